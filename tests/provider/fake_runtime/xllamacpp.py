"""A stand-in for the real runtime: does what the last message says, as the real one would report it."""

import json
import os
import signal
import sys
import time
from types import SimpleNamespace


class CommonParams(SimpleNamespace):
    def __init__(self):
        super().__init__(model=SimpleNamespace(), cpuparams=SimpleNamespace(), cpuparams_batch=SimpleNamespace())


class Server:
    def __init__(self, params):
        sys.stdout.write("loading noisily\n")
        os.write(1, b"more noise\n")
        if "broken" in params.model.path:
            os.write(2, b"0.01 E llama_model_load: error loading model: unknown\x1b[31m architecture\n")
            raise RuntimeError("Failed to init server, please check the input params.")
        if "exploding" in params.model.path:
            os.kill(os.getpid(), signal.SIGKILL)
        self._params = params

    def handle_chat_completions(self, request, callback):
        content = request["messages"][-1]["content"]
        callback({"choices": [{"delta": {"role": "assistant", "content": None}}], "prompt_progress": PROGRESS})
        getattr(self, "do_" + content.split()[0])(request, callback)

    def do_echo(self, request, callback):
        callback(delta(content=json.dumps(request)))
        finish(callback)

    def do_environment(self, request, callback):
        callback(delta(content=json.dumps({"names": sorted(os.environ), "n_ctx": self._params.n_ctx})))
        finish(callback)

    def do_think(self, request, callback):
        callback(delta(reasoning_content="hm"))
        callback(delta(content="ok"))
        finish(callback, "length")

    def do_noise(self, request, callback):
        sys.stdout.write("noise\n")
        os.write(1, b'{"id": 1, "end": true}\n')
        os.write(2, b"E something\n")
        callback(delta(content="fine"))
        finish(callback)

    def do_endless(self, request, callback):
        while not callback(delta(content="more ")):
            time.sleep(0.001)

    def do_silent(self, request, callback):
        time.sleep(60)

    def do_crash(self, request, callback):
        callback(delta(content="half"))
        os.kill(os.getpid(), signal.SIGKILL)

    def do_cut(self, request, callback):
        callback(delta(content="half"))

    def do_raise(self, request, callback):
        raise RuntimeError("out of luck")

    def do_odd(self, request, callback):
        callback({"choices": [{"delta": "text"}]})

    def do_refuse(self, request, callback):
        callback({"error": {"code": 400, "message": "bad schema", "type": "invalid_request_error"}})

    def do_overflow(self, request, callback):
        callback(
            {
                "error": {
                    "code": 400,
                    "message": "too long",
                    "type": "exceed_context_size_error",
                    "n_prompt_tokens": 9000,
                    "n_ctx": 2048,
                }
            }
        )


PROGRESS = {"total": 3, "cache": 0, "processed": 3, "time_ms": 1}


def delta(**fields):
    return {"choices": [{"finish_reason": None, "index": 0, "delta": fields}]}


def finish(callback, reason="stop"):
    callback({"choices": [{"finish_reason": reason, "index": 0, "delta": {}}]})
    callback({"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}})
