# An image whose process 1 is the training toolkit's own `train`, with Bandstand as its plug-in: for those who
# have such an image already. Its exit code and signals are the toolkit's business until the plug-in runs.
#
#   docker build -f docker/toolkit.Dockerfile --build-arg IMAGE=mine-with-toolkit:latest -t mine:latest .
ARG IMAGE=bandstand:toolkit
FROM ${IMAGE}
ENV SAGEMAKER_TRAINING_MODULE=bandstand.training:main
ENTRYPOINT []
CMD ["train"]
