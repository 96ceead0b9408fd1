"""A script on two hosts under torchrun, by SageMaker's Python SDK 3: `python v3_script.py IMAGE`."""

import json
import sys
from pathlib import Path

from sagemaker.core.helper.session_helper import Session
from sagemaker.train.configs import Compute, SourceCode
from sagemaker.train.distributed import Torchrun
from sagemaker.train.model_trainer import ModelTrainer

SCRIPT = """
import json
import os

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
value = torch.tensor([dist.get_rank() + 1.0])
dist.all_reduce(value)
if dist.get_rank() == 0:
    with open(os.path.join(os.environ["SM_MODEL_DIR"], "found.json"), "w") as file:
        json.dump({"ranks": dist.get_world_size(), "sum": value.item()}, file)
dist.destroy_process_group()
"""

source = Path("v3-script")
source.mkdir()
(source / "train.py").write_text(SCRIPT)
session = Session(default_bucket="v3-script")
trainer = ModelTrainer(
    training_image=sys.argv[1],
    source_code=SourceCode(source_dir=str(source), entry_script="train.py"),
    compute=Compute(instance_type="ml.m5.large", instance_count=2),
    role="arn:aws:iam::111122223333:role/Training",
    distributed=Torchrun(),
    sagemaker_session=session,
    base_job_name="v3-script",
)
trainer.train(wait=True, logs=False)
job = trainer._latest_training_job
model = job.model_artifacts.s3_model_artifacts
session.download_data(
    "v3-model", session.default_bucket(), model.removeprefix(f"s3://{session.default_bucket()}/")
)
print(json.dumps({"job": job.training_job_name, "status": job.training_job_status}))
