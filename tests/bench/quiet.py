"""Measures, from /proc, how much of the processors other work took during a measurement.

On a shared machine, figures are kept only from moments in which it was little, or say how much it
was. Linux only. Times are in ticks of 10 ms, so a measurement should take some tenths of a second.
"""

import os
import pathlib
import time


def busy_ticks():
    user, nice, system, _idle, _iowait, irq, softirq, steal = map(
        int, pathlib.Path("/proc/stat").read_text().split(maxsplit=9)[1:9]
    )
    return user + nice + system + irq + softirq + steal


def ticks_of(sessions):
    """Gives the ticks of all living processes in these sessions: a reader and its workers."""
    ticks = 0
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has ended
        if int(fields[3]) in sessions:
            ticks += int(fields[11]) + int(fields[12])
    return ticks


class Watch:
    """Watches until share(): the part of all processors' time that neither these sessions nor we
    took."""

    def __init__(self, sessions):
        self.sessions = sessions
        self.own, self.busy, self.start = self.own_ticks(), busy_ticks(), time.monotonic()

    def own_ticks(self):
        here = os.times()
        return ticks_of(self.sessions) + (here.user + here.system) * os.sysconf("SC_CLK_TCK")

    def share(self):
        passed = (time.monotonic() - self.start) * os.sysconf("SC_CLK_TCK") * os.cpu_count()
        return max(0.0, busy_ticks() - self.busy - (self.own_ticks() - self.own)) / passed


def wait(patience_s, share=0.05, look_s=0.1):
    """Waits until others took no more than this share for a moment, or patience ends."""
    end = time.monotonic() + patience_s
    while time.monotonic() < end:
        watch = Watch(set())
        time.sleep(look_s)
        if watch.share() <= share:
            return
