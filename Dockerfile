# An image with nothing but the program. make release stages what is copied, one folder for each platform, so that the image
# contains the same bytes as the other artefacts:
#
#   make release
#   docker build --file Dockerfile --tag unloop dist/image/linux_amd64
FROM scratch
COPY --chmod=0755 unloop /
COPY LICENSE THIRD_PARTY_NOTICES.txt /
COPY --chown=65532:65532 data/ /data/
USER 65532:65532
ENV UNLOOP_ADDR=0.0.0.0:8765 UNLOOP_GRPC_ADDR=0.0.0.0:4317 UNLOOP_DB=/data/unloop.db TMPDIR=/data
VOLUME /data
EXPOSE 8765 4317
HEALTHCHECK --interval=10s --timeout=5s --start-period=10s --retries=3 CMD ["/unloop", "doctor", "--quick", "--endpoint", "http://127.0.0.1:8765"]
ENTRYPOINT ["/unloop"]
CMD ["serve"]
