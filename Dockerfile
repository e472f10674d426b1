# Syncline in a container: `docker build -t syncline .`, then
# `docker run --rm -v "$PWD:/data" syncline run --platform two-hosts --model resnet20 --throughput 920`.
# tests/package/dockerfile-in-chroot.sh runs these steps without Docker.
FROM debian:12-slim AS build
WORKDIR /syncline
COPY . /syncline
RUN bash -c 'source ./setup.sh && packages+=(dpkg-dev file) && install_packages'
RUN cmake --preset release -DSYNCLINE_TESTS=OFF
RUN cmake --build --preset release --target syncline syncline-calibrate
RUN cpack --config build/release/CPackConfig.cmake -B /package

FROM debian:12-slim
COPY --from=build /package/*.deb /package/
RUN apt-get update && \
    apt-get install -y --no-install-recommends /package/*.deb && \
    rm -rf /package /var/lib/apt/lists/*
WORKDIR /data
ENTRYPOINT ["syncline"]
CMD ["--help"]
