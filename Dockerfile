# Bandstand's training image. Stages to build: xgboost, horovod, all (the default).
#
#   docker build --platform linux/amd64 --target xgboost -t bandstand:xgboost .
#
# The other two need PyTorch's own index for CPUs as well: --build-arg PIP_EXTRA_INDEX_URL=ADDRESS.
# Every stage starts from BASE_IMAGE, which needs Python 3.11 with venv. `make image` does the same with a base
# from Debian's packages and files from docker/wheels, with no image registry and no package index.
# docs/how-to/build-and-push.md tells the arguments. Works with and without BuildKit.

ARG BASE_IMAGE=python:3.11-slim


# A virtual environment with nothing but pip, and another one with what builds packages. No file of these
# stages gets into an image unless a later stage copies it.
FROM ${BASE_IMAGE} AS start
ARG ACCELERATOR=cpu
ARG PIP_NO_INDEX
ARG PIP_INDEX_URL
ARG SOURCE_DATE_EPOCH=315532800
ENV PIP_FIND_LINKS=/build/wheels PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_NO_COMPILE=1 \
    PIP_ROOT_USER_ACTION=ignore PIP_REQUIRE_VIRTUALENV=0 PYTHONDONTWRITEBYTECODE=1
COPY docker/wheels/build /build/wheels
COPY docker/lock/${ACCELERATOR}/build.txt /build/lock/build.txt
COPY docker/install.sh /build/install.sh
RUN python3 -m venv /build/venv \
 && /build/venv/bin/pip install --quiet --no-deps --require-hashes -r /build/lock/build.txt \
 && python3 -m venv --without-pip /opt/venv \
 && grep '^pip==' /build/lock/build.txt >/build/lock/pip.txt \
 && sh /build/install.sh /opt/venv /build/lock/pip.txt


# The packages that have no wheel in the index: the training toolkit, which is left out by default. It is an
# option for scripts that import it; script mode is Bandstand's own.
FROM ${BASE_IMAGE} AS toolkit-wheels
ARG TOOLKIT
ARG PIP_NO_INDEX
ARG PIP_INDEX_URL
COPY docker/wheels/toolkit /build/wheels
COPY docker/lock/built.txt docker/compile.sh /build/
RUN mkdir -p /build/made \
 && if [ -n "$TOOLKIT" ]; then sh /build/compile.sh /build/made inotify_simple sagemaker_training; fi


FROM start AS xgboost-packages
ARG ACCELERATOR=cpu
ARG PARQUET=1
ARG TOOLKIT
ARG PIP_NO_INDEX
ARG PIP_INDEX_URL
ARG SOURCE_DATE_EPOCH=315532800
COPY docker/wheels/xgboost docker/wheels/parquet docker/wheels/toolkit /build/wheels/
COPY docker/lock/${ACCELERATOR} /build/lock
COPY --from=toolkit-wheels /build/made /build/made
RUN sh /build/install.sh /opt/venv /build/lock/xgboost.txt \
      ${PARQUET:+/build/lock/parquet.txt} ${TOOLKIT:+/build/lock/toolkit.txt} \
 && if [ -n "$TOOLKIT" ]; then sh /build/install.sh /opt/venv /build/made/*.whl; fi


# Bandstand itself, and the folders of SageMaker, which any user may write to.
FROM start AS bandstand
ARG PIP_NO_INDEX
ARG PIP_INDEX_URL
ARG SOURCE_DATE_EPOCH=315532800
COPY pyproject.toml README.md LICENSE /build/source/
COPY src /build/source/src
COPY container /build/source/container
RUN cd /build/source \
 && /build/venv/bin/pip wheel --quiet --no-deps --no-build-isolation --wheel-dir /build/made . \
 && sh /build/install.sh /opt/venv /build/made/*.whl \
 && site=$(/opt/venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))') \
 && mkdir -p "/image$site" /image/opt/venv/bin \
 && cp -a "$site"/bandstand* "/image$site/" \
 && cp -a /opt/venv/bin/bandstand /image/opt/venv/bin/ \
 && mkdir -p /image/opt/ml/code /image/opt/ml/model /image/opt/ml/checkpoints /image/opt/ml/output/data \
      /image/opt/ml/input/config /image/opt/ml/input/data \
 && chmod -R a+rwX /image/opt/ml \
 && find /image -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +


# The base has its standard library as source only, which every container would compile anew at its start.
FROM start AS library
ARG SOURCE_DATE_EPOCH=315532800
RUN library=$(python3 -c 'import sysconfig; print(sysconfig.get_path("stdlib"))') \
 && PYTHONHASHSEED=0 python3 -m compileall -q -j 1 --invalidation-mode unchecked-hash \
      -x '/(test|tests|idlelib|tkinter|lib2to3|ensurepip|site-packages|dist-packages)/' "$library" \
 && mkdir /image \
 && find "$library" -name '*.pyc' -exec cp -a --parents -t /image {} + \
 && find /image -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +


# What all images share. Process 1 is ours, so that signals and the exit code are the truth.
FROM ${BASE_IMAGE} AS runtime
ENV PATH=/opt/venv/bin:$PATH BANDSTAND_REQUIREMENTS=install \
    PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_ROOT_USER_ACTION=ignore
LABEL org.opencontainers.image.title="Bandstand" \
      org.opencontainers.image.description="Distributed training on SageMaker: row-split XGBoost and Horovod" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=library /image /
WORKDIR /
ENTRYPOINT ["python", "-m", "bandstand.training"]


FROM runtime AS xgboost
COPY --from=xgboost-packages /opt/venv /opt/venv
COPY --from=bandstand /image /
ARG VERSION=unknown
ARG REVISION=unknown
ARG SOURCE=unknown
LABEL org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.source="${SOURCE}"


# Horovod has no wheel in any index; see docker/horovod. A wheel in docker/wheels is taken as it is.
FROM ${BASE_IMAGE} AS horovod-wheel
ARG ACCELERATOR=cpu
ARG PIP_NO_INDEX
ARG PIP_INDEX_URL
ARG PIP_EXTRA_INDEX_URL
COPY docker/wheels/horovod /build/wheels
COPY docker/lock /build/lock
COPY docker/horovod /build/horovod
COPY docker/compile.sh /build/
RUN sh /build/horovod/check_index.sh /build/wheels && mkdir -p /build/made && sh /build/compile.sh /build/made horovod


FROM start AS horovod-packages
ARG ACCELERATOR=cpu
ARG PIP_NO_INDEX
ARG PIP_INDEX_URL
ARG PIP_EXTRA_INDEX_URL
ARG SOURCE_DATE_EPOCH=315532800
COPY docker/wheels/horovod /build/wheels
COPY docker/lock/${ACCELERATOR} /build/lock
COPY docker/horovod/check_index.sh /build/check_index.sh
RUN sh /build/check_index.sh /build/wheels && sh /build/install.sh /opt/venv /build/lock/horovod.txt
COPY --from=horovod-wheel /build/made /build/made
RUN sh /build/install.sh /opt/venv /build/made/*.whl


FROM runtime AS horovod
COPY --from=horovod-packages /opt/venv /opt/venv
COPY --from=bandstand /image /
ARG VERSION=unknown
ARG REVISION=unknown
ARG SOURCE=unknown
LABEL org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.source="${SOURCE}"


# With GPUs, XGBoost and PyTorch bring files of NCCL of the same name for two versions of CUDA.
FROM xgboost-packages AS all-packages
ARG ACCELERATOR=cpu
RUN if [ "$ACCELERATOR" != cpu ]; then echo "For GPUs, build --target xgboost or --target horovod" >&2; exit 1; fi


# The image of the stage before and a layer more: what both need is pinned alike, so one lies over the other.
FROM horovod AS all
COPY --from=all-packages /opt/venv /opt/venv
