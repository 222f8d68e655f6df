"""A sandbox in a container for each test session. Needs a container engine, pytest and testcontainers."""
import json
import urllib.request

import pytest
from testcontainers.core.container import DockerContainer
from testcontainers.core.wait_strategies import HttpWaitStrategy

START = "node node_modules/routing-sandbox/dist/cli/main.js start --data-dir data"


@pytest.fixture(scope="session")
def sandbox():
    container = (
        DockerContainer("routing-sandbox")
        .with_command(START + " --listen 0.0.0.0 --allow-host localhost")
        .with_exposed_ports(4020, 4022)
        .waiting_for(HttpWaitStrategy(4022, "/health").for_status_code(200))
    )
    with container:
        yield container


def test_a_purchase_is_refunded(sandbox):
    control = f"http://localhost:{sandbox.get_exposed_port(4022)}"
    body = json.dumps({"purchase": {"state": "refunded"}}).encode()
    request = urllib.request.Request(control + "/given", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        assert json.load(answer)["refund"]["status"] == "collected"
