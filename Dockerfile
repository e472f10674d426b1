# Syncline in a container: `docker build -t syncline .`, then
# `docker run --rm -u "$(id -u):$(id -g)" -v "$PWD:/data" syncline run --platform two-hosts --model resnet20 --throughput 920`.
# -u makes you the owner of --out's files; without it the user owns only the image's /data.
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
    rm -rf /package /var/lib/apt/lists/* && \
    useradd --create-home syncline && \
    install -d -o syncline -g syncline /data
USER syncline
WORKDIR /data
ENTRYPOINT ["syncline"]
CMD ["--help"]
