"""A calendar queue: events by time, in constant time each.

Like a desk calendar it has a page per day of one year; an event of a later year stands on the page of its day all the
same. If days are about as long as the time between events, a page holds few, and few pages are empty. So putting in,
taking out and finding the next are cheap however many there are. The calendar is made anew, with other days, when the
number of events has doubled or halved, or when looking things up has taken more than its share.
"""

from __future__ import annotations

from collections.abc import Sequence

_FEWEST_DAYS = 8
_SAMPLE = 64
_NEVER = 2**62


class CalendarQueue:
    """At most one event per item; times are whole numbers.

    >>> queue = CalendarQueue()
    >>> for item, time in [(1, 30), (2, 10), (3, 500), (1, 20)]:
    ...     queue.put(item, time)
    >>> queue.due(25), queue.due(25), len(queue)
    ([2, 1], [], 1)
    """

    def __init__(self) -> None:
        self._now = 0
        self._times: dict[int, int] = {}
        self._days: list[dict[int, int]] = [{} for _ in range(_FEWEST_DAYS)]
        self._width = 1_000
        self._soonest = _NEVER
        """No event is earlier."""
        self._wasted = 0
        self.steps = 0
        """Pages and events looked at so far: what the work is measured by."""

    def __len__(self) -> int:
        return len(self._times)

    def put(self, item: int, time: int) -> None:
        """Sets the time of the item's event, whether it had one or not. What is past is due now."""
        self.put_all([(item, time)])

    def put_all(self, events: Sequence[tuple[int, int]]) -> None:
        """The same for many."""
        days, width, times, now = self._days, self._width, self._times, self._now
        soonest, count = self._soonest, len(days)
        for item, time in events:
            if item in times:
                del days[times[item] // width % count][item]
            if time < now:
                time = now
            if time < soonest:
                soonest = time
            times[item] = time
            days[time // width % count][item] = time
        self._soonest = soonest
        self.steps += len(events)
        while len(times) > 2 * count:
            count *= 2
        if count > len(days):
            self._renew(count)

    def remove(self, item: int) -> None:
        """Takes out the item's event, if it has one."""
        time = self._times.pop(item, None)
        if time is None:
            return
        self.steps += 1
        del self._page(time)[item]
        if len(self._days) > _FEWEST_DAYS and 2 * len(self._times) < len(self._days):
            self._renew(len(self._days) // 2)

    def due(self, now: int) -> list[int]:
        """Takes out the items whose time has come, in the order of their times."""
        if now < self._soonest:
            self._now = max(self._now, now)
            return []
        before = len(self._times)
        first, last = self._now // self._width, now // self._width
        # Where more days have passed than there are events, all events are looked at.
        whole = last - first >= before
        found = self._looked_through(now) if whole else self._turn_over(first, last, now)
        for _, item in found:
            del self._times[item]
        self._now = now
        self._soonest = min(self._times.values(), default=_NEVER) if whole else now
        found.sort()
        self._settle(before)
        return [item for _, item in found]

    def _looked_through(self, now: int) -> list[tuple[int, int]]:
        """Takes the events whose time has come off their pages, wherever they are."""
        self.steps += 1 + len(self._times)
        found = [(time, item) for item, time in self._times.items() if time <= now]
        for time, item in found:
            del self._page(time)[item]
        return found

    def _turn_over(self, first: int, last: int, now: int) -> list[tuple[int, int]]:
        """The same on the pages from one day to another."""
        found: list[tuple[int, int]] = []
        days = len(self._days)
        for day in range(first, min(last, first + days - 1) + 1):
            page = self._days[day % days]
            if page:
                ripe = [(time, item) for item, time in page.items() if time <= now]
                found += ripe
                self._wasted += len(page)
                self.steps += len(page)
                if len(ripe) == len(page):
                    page.clear()
                else:
                    for _, item in ripe:
                        del page[item]
        pages = min(last - first + 1, days)
        self.steps += pages
        self._wasted += pages - 2 * len(found)
        return found

    def _page(self, time: int) -> dict[int, int]:
        return self._days[time // self._width % len(self._days)]

    def _settle(self, before: int) -> None:
        """Looks where the next event is, or changes the length of days, once that is worth its price.

        There were ``before`` events. What was taken out often comes back with a later time, so these count for the
        number of days.
        """
        days = len(self._days)
        while days > _FEWEST_DAYS and 2 * before < days:
            days //= 2
        if days != len(self._days) or self._wasted > 4 * (len(self._times) + _FEWEST_DAYS):
            self._renew(days)
            self._soonest = min(self._times.values(), default=_NEVER)
            self.steps += len(self._times)

    def _renew(self, days: int) -> None:
        self._wasted = 0
        self._width = self._day_length()
        self._days = [{} for _ in range(days)]
        for item, time in self._times.items():
            self._page(time)[item] = time
        self.steps += days + len(self._times)

    def _day_length(self) -> int:
        """The time between events, guessed from a sample without its outermost events."""
        count = len(self._times)
        if count < 2:
            return self._width
        times = list(self._times.values())
        sample = sorted(times[:: max(1, count // _SAMPLE)])
        cut = len(sample) // 10
        inner = sample[cut : len(sample) - cut]
        span = inner[-1] - inner[0]
        return max(1, span * len(sample) // (len(inner) * count))
