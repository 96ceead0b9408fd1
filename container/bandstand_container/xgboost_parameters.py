"""XGBoost's own parameters, declared as hyperparameters.

Ranges and defaults are SageMaker XGBoost's: docs.aws.amazon.com/sagemaker/latest/dg, pages
xgboost_hyperparameters.html and xgboost-tuning.html; scales, and which limits belong to a range, are those of
github.com/aws/sagemaker-xgboost-container, algorithm_mode/hyperparameter_validation.py. The rest is from
XGBoost 3.2: xgboost.readthedocs.io/en/stable/parameter.html, and the library itself.
"""

from __future__ import annotations

from bandstand.hyperparameter_by_type import hyperparameter as hp

OBJECTIVES = (
    "reg:squarederror",
    "reg:squaredlogerror",
    "reg:logistic",
    "reg:pseudohubererror",
    "reg:absoluteerror",
    "reg:quantileerror",
    "reg:gamma",
    "reg:tweedie",
    "reg:linear",
    "binary:logistic",
    "binary:logitraw",
    "binary:hinge",
    "count:poisson",
    "multi:softmax",
    "multi:softprob",
    "rank:ndcg",
    "rank:map",
    "rank:pairwise",
    "survival:aft",
    "survival:cox",
)

TUNED_ON_SAGEMAKER = (
    hp(
        "alpha",
        float,
        0,
        default=0,
        tune=(0, 1000),
        scale="linear",
        aliases=("reg_alpha",),
        help="L1 regularization of the leaves' weights; larger is more conservative.",
    ),
    hp(
        "colsample_bylevel",
        float,
        above=0,
        high=1,
        default=1,
        tune=(0.1, 1),
        scale="linear",
        help="Share of the columns that each level of a tree chooses from.",
    ),
    hp(
        "colsample_bynode",
        float,
        above=0,
        high=1,
        default=1,
        tune=(0.1, 1),
        scale="linear",
        help="Share of the columns that each split chooses from.",
    ),
    hp(
        "colsample_bytree",
        float,
        above=0,
        high=1,
        default=1,
        tune=(0.5, 1),
        scale="linear",
        help="Share of the columns that each tree chooses from.",
    ),
    hp(
        "eta",
        float,
        0,
        1,
        default=0.3,
        tune=(0.1, 0.5),
        scale="linear",
        aliases=("learning_rate",),
        help="How much of each new tree is taken; smaller is more conservative.",
    ),
    hp(
        "gamma",
        float,
        0,
        default=0,
        tune=(0, 5),
        scale="linear",
        aliases=("min_split_loss",),
        help="Loss that a split has to save at least; larger is more conservative.",
    ),
    hp(
        "lambda",
        float,
        0,
        default=1,
        tune=(0, 1000),
        scale="linear",
        aliases=("reg_lambda",),
        help="L2 regularization of the leaves' weights; larger is more conservative.",
    ),
    hp(
        "max_delta_step",
        float,
        0,
        default=0,
        tune=(0, 10),
        scale="linear",
        help="Limit of each leaf's weight, 0 for none; 1 to 10 helps where classes are very uneven.",
    ),
    hp("max_depth", int, 0, default=6, tune=(0, 10), scale="linear", help="Depth of a tree, 0 for no limit."),
    hp(
        "min_child_weight",
        float,
        0,
        default=1,
        tune=(0, 120),
        scale="linear",
        help="Sum of the rows' weights (hessian) that a leaf has at least.",
    ),
    hp(
        "subsample",
        float,
        above=0,
        high=1,
        default=1,
        tune=(0.5, 1),
        scale="linear",
        help="Share of the rows that each tree is grown on.",
    ),
)
"""What AWS's page on tuning XGBoost lists, beside `num_round`, with its ranges."""

TREES = (
    hp(
        "booster",
        ["gbtree", "gblinear", "dart"],
        default="gbtree",
        help="Trees, linear, or trees with dropout.",
    ),
    hp(
        "tree_method",
        ["auto", "exact", "approx", "hist"],
        default="auto",
        help="How splits are found; `exact` is for one rank only.",
    ),
    hp("grow_policy", ["depthwise", "lossguide"], default="depthwise", help="Which node is split next."),
    hp("max_leaves", int, 0, default=0, help="Leaves of a tree, 0 for no limit."),
    hp("max_bin", int, 2, default=256, help="Bins of each column."),
    hp("num_parallel_tree", int, 1, default=1, help="Trees of each iteration, as in a random forest."),
    hp(
        "sampling_method",
        ["uniform", "gradient_based"],
        default="uniform",
        help="How rows are drawn for `subsample`; `gradient_based` needs a GPU.",
    ),
    hp("max_cat_to_onehot", int, 1, default=4, help="Categories up to which a split takes one of them."),
    hp("max_cat_threshold", int, 1, default=64, help="Categories that a split considers at most."),
    hp(
        "monotone_constraints",
        list[int],
        -1,
        1,
        default=None,
        help="For each column 1 to rise, -1 to fall, 0.",
    ),
    hp(
        "interaction_constraints",
        list,
        default=None,
        help="Groups of columns that may stand together in a branch, such as [[0, 1], [2, 3, 4]].",
    ),
    hp(
        "multi_strategy",
        ["one_output_per_tree", "multi_output_tree"],
        default="one_output_per_tree",
        help="How a model of several outputs is made of trees.",
    ),
    hp(
        "updater",
        str,
        default=None,
        help="The steps that make a tree, with commas; follows from tree_method.",
    ),
    hp(
        "process_type",
        ["default", "update"],
        default="default",
        tunable=False,
        help="New trees, or old ones.",
    ),
    hp("refresh_leaf", bool, default=True, help="Whether the updater `refresh` renews the leaves, too."),
    hp("sparse_threshold", float, 0, 1, default=0.2, help="Density from which a column is kept as dense."),
    hp("max_cached_hist_node", int, 1, default=None, help="Nodes whose histograms are kept."),
)

DART_AND_LINEAR = (
    hp("sample_type", ["uniform", "weighted"], default="uniform", help="dart: how dropped trees are chosen."),
    hp("normalize_type", ["tree", "forest"], default="tree", help="dart: how new trees are weighed."),
    hp("rate_drop", float, 0, 1, default=0, help="dart: share of the trees that are dropped."),
    hp("one_drop", bool, default=False, help="dart: whether at least one tree is dropped."),
    hp("skip_drop", float, 0, 1, default=0, help="dart: probability that an iteration drops nothing."),
    hp(
        "feature_selector",
        ["cyclic", "shuffle", "random", "greedy", "thrifty"],
        default="cyclic",
        help="gblinear: which column is next.",
    ),
    hp("top_k", int, 0, default=0, help="gblinear: columns that a selector takes, 0 for all."),
    hp("tolerance", float, 0, default=0, help="gblinear: change below which training ends, 0 for never."),
    hp(
        "max_row_perbatch",
        int,
        1,
        default=None,
        tunable=False,
        help="gblinear: rows that are read at a time.",
    ),
)

TASK = (
    hp("objective", OBJECTIVES, default="reg:squarederror", help="What is learnt."),
    hp(
        "base_score", list[float], default=None, help="The prediction to start from; if not given, estimated."
    ),
    hp("scale_pos_weight", float, 0, default=1, help="Weight of positive rows, for classes that are uneven."),
    hp("num_class", int, 0, default=None, tunable=False, help="multi: how many classes there are."),
    hp("tweedie_variance_power", float, above=1, below=2, default=1.5, help="reg:tweedie: of its variance."),
    hp("huber_slope", float, above=0, default=1, help="reg:pseudohubererror: its slope."),
    hp(
        "quantile_alpha", list[float], 0, 1, default=None, tunable=False, help="reg:quantileerror: quantiles."
    ),
    hp(
        "aft_loss_distribution",
        ["normal", "logistic", "extreme"],
        default="normal",
        help="survival:aft: distribution of the noise.",
    ),
    hp("aft_loss_distribution_scale", float, above=0, default=1, help="survival:aft: scale of the noise."),
    hp("lambdarank_pair_method", ["topk", "mean"], default="topk", help="rank: how pairs are made."),
    hp("lambdarank_num_pair_per_sample", int, 1, default=None, help="rank: pairs, or the k of top-k."),
    hp("lambdarank_normalization", bool, default=True, help="rank: whether gradients are normalized."),
    hp("lambdarank_score_normalization", bool, default=True, help="rank: whether score differences count."),
    hp("lambdarank_unbiased", bool, default=False, help="rank: whether the bias of clicks is estimated."),
    hp("lambdarank_bias_norm", float, 0, default=1, help="rank: norm of that estimate."),
    hp("ndcg_exp_gain", bool, default=True, help="rank:ndcg: whether the gain is 2^rel - 1."),
    hp("disable_default_eval_metric", bool, default=False, tunable=False, help="Whether to leave it out."),
)

MACHINE = (
    hp("seed", int, default=0, aliases=("random_state",), help="Seed of the random numbers."),
    hp("seed_per_iteration", bool, default=False, help="Whether each iteration has a seed of its own."),
    hp(
        "nthread",
        int,
        default=None,
        tunable=False,
        aliases=("n_jobs",),
        help="Threads of a rank; if not given, its share of the cores.",
    ),
    hp("verbosity", int, 0, 3, default=1, tunable=False, help="0 silent, 1 warnings, 2 information, 3 all."),
    hp("device", str, default="cpu", tunable=False, help="cpu, cuda, or cuda:NUMBER."),
    hp("validate_parameters", bool, default=True, tunable=False, help="Accepted; they are always checked."),
    hp("fail_on_invalid_gpu_id", bool, default=False, tunable=False, help="Whether a wrong GPU is an error."),
    hp("use_rmm", bool, default=False, tunable=False, help="Whether GPU memory is managed by RMM."),
    hp("use_cuda_async_pool", bool, default=False, tunable=False, help="Whether CUDA's own pool is used."),
)

INNER = tuple(
    hp(name, str, default=None, tunable=False, help="XGBoost's own; it sets this itself as a rule.")
    for name in (
        "boost_from_average",
        "debug_synchronize",
        "default_direction",
        "num_feature",
        "num_target",
        "num_trees",
        "opt_dense_col",
        "updater_seq",
    )
)
"""Names that XGBoost takes, and whose values it alone judges."""

PARAMETERS = (*TUNED_ON_SAGEMAKER, *TREES, *DART_AND_LINEAR, *TASK, *MACHINE, *INNER)
"""What goes to XGBoost."""
