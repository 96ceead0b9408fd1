"""Clients that call one operation of SageMaker's API, as quickly as they are answered; prints calls a second.

Run as `service_clients.py URL OPERATION CLIENTS CALLS JOBS`: that many calls in all, about the jobs from
`stored-00000` on.
Requests are written by hand, since boto3 takes more time for a call than a server that keeps up.
"""

from __future__ import annotations

import http.client
import json
import random
import sys
import threading
import time
from urllib.parse import urlsplit

HEADERS = {
    "Content-Type": "application/x-amz-json-1.1",
    "Authorization": "AWS4-HMAC-SHA256 Credential=none/20260101/eu-central-1/sagemaker/aws4_request,"
    " SignedHeaders=host, Signature=none",
    "X-Amz-Date": "20260101T000000Z",
}


def main(words: list[str]) -> None:
    """Call, and print calls a second."""
    url, operation, clients, calls, jobs = words[0], words[1], int(words[2]), int(words[3]), int(words[4])
    each = -(-calls // clients)
    ready = threading.Barrier(clients + 1)
    faults: list[str] = []

    def client(seed: int) -> None:
        choose = random.Random(seed)
        place = urlsplit(url)
        connection = http.client.HTTPConnection(place.hostname or "", place.port)
        connection.connect()
        ready.wait()
        for _ in range(each):
            body = json.dumps(_request(operation, choose.randrange(jobs)))
            target = {**HEADERS, "X-Amz-Target": f"SageMaker.{operation}"}
            connection.request("POST", "/", body, target)
            answer = connection.getresponse()
            text = answer.read()
            if answer.status != 200:
                faults.append(f"{answer.status} {text[:300]!r}")
                return

    threads = [threading.Thread(target=client, args=(seed,)) for seed in range(clients)]
    for thread in threads:
        thread.start()
    ready.wait()
    start = time.perf_counter()
    for thread in threads:
        thread.join()
    seconds = time.perf_counter() - start
    if faults:
        raise SystemExit(f"{operation} was refused: {faults[0]}")
    print(each * clients / seconds)


def _request(operation: str, number: int) -> dict[str, object]:
    if operation == "DescribeTrainingJob":
        return {"TrainingJobName": f"stored-{number:05}"}
    return {"MaxResults": 10, "SortBy": "CreationTime", "SortOrder": "Descending"}


if __name__ == "__main__":
    main(sys.argv[1:])
