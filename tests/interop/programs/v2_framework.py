"""A script of one's own, tuned through the PyTorch estimator of SageMaker's Python SDK 2.

Script, arguments, `SM_*` variables and metric pattern are as such code is mostly written: nothing of it knows
Bandstand, and its pattern takes digits and dots only.
"""

import json
from pathlib import Path

import sagemaker
from sagemaker.pytorch import PyTorch
from sagemaker.tuner import CategoricalParameter, ContinuousParameter, HyperparameterTuner

SCRIPT = """
import argparse
import json
import logging
import os
import sys

logger = logging.getLogger(__name__)
logger.setLevel(logging.DEBUG)
logger.addHandler(logging.StreamHandler(sys.stdout))

parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int, default=64)
parser.add_argument("--epochs", type=int, default=1)
parser.add_argument("--lr", type=float, default=0.01)
parser.add_argument("--backend", type=str)
parser.add_argument("--hosts", type=list, default=json.loads(os.environ["SM_HOSTS"]))
parser.add_argument("--current-host", default=os.environ["SM_CURRENT_HOST"])
parser.add_argument("--model-dir", default=os.environ["SM_MODEL_DIR"])
parser.add_argument("--data-dir", default=os.environ["SM_CHANNEL_TRAINING"])
parser.add_argument("--num-gpus", type=int, default=os.environ["SM_NUM_GPUS"])
arguments = parser.parse_args()

files = [os.path.join(arguments.data_dir, name) for name in os.listdir(arguments.data_dir)]
rows = sum(len(open(file).readlines()) for file in files)
for epoch in range(1, arguments.epochs + 1):
    loss = arguments.lr + arguments.batch_size / rows / epoch
    logger.info("Test set: average loss: {:.4f}, rows: {}".format(loss, rows))
with open(os.path.join(arguments.model_dir, "model.txt"), "w") as file:
    file.write(str(arguments.lr))
"""

session = sagemaker.Session(default_bucket="framework-bucket")
source = Path("framework")
source.mkdir(exist_ok=True)
(source / "train.py").write_text(SCRIPT)
inputs = session.upload_data(path="data/train", key_prefix="framework")

estimator = PyTorch(
    entry_point="train.py",
    source_dir=str(source),
    role="arn:aws:iam::111122223333:role/Training",
    py_version="py3",
    framework_version="1.8.0",
    instance_count=1,
    instance_type="ml.c5.2xlarge",
    hyperparameters={"epochs": 3, "backend": "gloo"},
    sagemaker_session=session,
)
tuner = HyperparameterTuner(
    estimator,
    "average test loss",
    {"lr": ContinuousParameter(0.001, 0.1), "batch-size": CategoricalParameter([32, 64, 128])},
    [{"Name": "average test loss", "Regex": "Test set: average loss: ([0-9\\.]+)"}],
    objective_type="Minimize",
    max_jobs=4,
    max_parallel_jobs=2,
)
tuner.fit({"training": inputs}, wait=True)

print(
    json.dumps(
        {
            "status": tuner.describe()["HyperParameterTuningJobStatus"],
            "best": tuner.best_training_job(),
            "rows": json.loads(tuner.analytics().dataframe().to_json(orient="records", date_format="iso")),
        }
    )
)
