# The smallest image of your own: Python, Bandstand and a script.
#
#   docker build -f docker/byo.Dockerfile -t mine:latest FOLDER        FOLDER has a train.py, and may have more
#
# SageMaker runs it with the word train; process 1 finds /opt/ml/code/train.py and gives it hyperparameters,
# channels and a stop. Add your framework with another pip install, or with a requirements.txt in FOLDER.
ARG BASE_IMAGE=python:3.11-slim
FROM ${BASE_IMAGE}
ARG BANDSTAND=bandstand
ARG PIP_NO_INDEX
# A wheel of Bandstand in FOLDER will do where the package index has none.
ARG PIP_FIND_LINKS=/opt/ml/code
COPY . /opt/ml/code/
RUN python3 -m venv /opt/venv && /opt/venv/bin/pip install --no-cache-dir "$BANDSTAND"
ENV PATH=/opt/venv/bin:$PATH SAGEMAKER_PROGRAM=train.py BANDSTAND_REQUIREMENTS=install
RUN mkdir -p /opt/ml/input /opt/ml/model /opt/ml/output/data /opt/ml/checkpoints && chmod -R a+rwX /opt/ml
ARG VERSION=unknown
ARG REVISION=unknown
ARG SOURCE=unknown
LABEL org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.source="${SOURCE}"
ENTRYPOINT ["python", "-m", "bandstand.training"]
