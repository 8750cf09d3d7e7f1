# SPDX-License-Identifier: GPL-2.0-only
# The simulator, built, with the study of the README in results/:
#   docker build -t gradsync . && docker run --rm gradsync ./ns3 run scenarios/smoke.json
FROM debian:12
WORKDIR /gradsync
COPY . .
RUN ./ns3 run scenarios/rat-oversubscription.json
