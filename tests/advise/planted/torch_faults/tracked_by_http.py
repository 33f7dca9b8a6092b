"""Sends each step's loss to a tracking server, and waits for its answer."""

import http.server
import json
import threading
import time
import urllib.request

from speech_torch import trainer

ROUND_TRIP_S = 0.06  # of a server that is not in this building


class Tracking(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        time.sleep(ROUND_TRIP_S)
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


class Trainer(trainer.Trainer):
    def __init__(self, args, queue=None):
        super().__init__(args, queue)
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Tracking)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.address = f"http://127.0.0.1:{server.server_port}/log"

    def track(self, **values):
        request = urllib.request.Request(self.address, json.dumps(values).encode(), method="POST")
        urllib.request.urlopen(request).close()

    def after_step(self, step, loss):
        super().after_step(step, loss)
        self.track(step=step, loss=float(loss))
