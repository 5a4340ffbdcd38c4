# One image for every process of kx; docker-compose.yml starts it once per service.
FROM python:3.11-slim

WORKDIR /opt/kx/source
COPY requirements.txt ./
RUN python -m venv /opt/kx/venv && /opt/kx/venv/bin/pip install --quiet --no-cache-dir -r requirements.txt
COPY . .
RUN /opt/kx/venv/bin/pip install --quiet --no-cache-dir --no-deps --no-build-isolation . \
    && rm -r /opt/kx/source

# Any uid may run it, so anyone may make a .kx in the home folder; the volume mounted there starts as a copy of it.
RUN mkdir -m 1777 /home/kx
ENV HOME=/home/kx PATH=/opt/kx/venv/bin:$PATH
WORKDIR /home/kx
CMD ["kx", "--help"]
