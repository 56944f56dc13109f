// SPDX-License-Identifier: MIT
// The baseline for the state machine: a dictionary of countdowns and a heap of their deadlines.
//
//   core-cpp COUNT ROUNDS     prints processor time an operation as one JSON object
//
// The operations, their order and the names are those of main.swift beside this file. It knows
// countdowns and nothing else: no holders, no properties, no state that was announced.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <unordered_map>
#include <vector>

namespace {

struct Countdown {
  std::string name;
  std::uint64_t deadline = 0, next = 0, interval = 0;
  std::uint32_t id = 0;
  std::size_t place = SIZE_MAX;
};

enum class Kind { started, tick, cancelled, finished };

struct Event {
  Kind kind;
  std::string name;
  std::uint32_t id, remaining;
};

class Countdowns {
 public:
  std::vector<Event> events;

  void start(const std::string &name, std::uint64_t duration, std::uint64_t interval,
             std::uint64_t now) {
    advance(now);
    auto [entry, isNew] = byName.try_emplace(name);
    Countdown &item = entry->second;
    if (isNew) item.name = name;
    if (item.id != 0) events.push_back({Kind::cancelled, name, item.id, 0});
    item.id = ++lastID;
    item.deadline = now + duration;
    item.interval = interval;
    item.next = interval == 0 ? item.deadline : nextTick(item, now);
    events.push_back({Kind::started, name, item.id, 0});
    if (item.place == SIZE_MAX) {
      heap.push_back(&item);
      rise(&item, heap.size() - 1);
    } else {
      Countdown *moved = &item;
      remove(moved);
      heap.push_back(moved);
      rise(moved, heap.size() - 1);
    }
  }

  void cancel(const std::string &name, std::uint64_t now) {
    advance(now);
    auto entry = byName.find(name);
    if (entry == byName.end() || entry->second.id == 0) return;
    Countdown &item = entry->second;
    events.push_back({Kind::cancelled, item.name, item.id, 0});
    item.id = 0;
    remove(&item);
  }

  void advance(std::uint64_t now) {
    while (!heap.empty() && heap[0]->next <= now) {
      Countdown *item = heap[0];
      if (item->deadline <= now) {
        events.push_back({Kind::finished, item->name, item->id, 0});
        item->id = 0;
        remove(item);
      } else {
        auto remaining = static_cast<std::uint32_t>((item->deadline - now + 999999) / 1000000);
        events.push_back({Kind::tick, item->name, item->id, remaining});
        item->next = nextTick(*item, now);
        sink(item, 0);
      }
    }
  }

  std::uint64_t nextDeadline() const { return heap.empty() ? 0 : heap[0]->next; }

 private:
  std::unordered_map<std::string, Countdown> byName;
  std::vector<Countdown *> heap;
  std::uint32_t lastID = 0;

  static std::uint64_t nextTick(const Countdown &item, std::uint64_t now) {
    return item.deadline - (item.deadline - now - 1) / item.interval * item.interval;
  }

  void put(Countdown *item, std::size_t place) {
    heap[place] = item;
    item->place = place;
  }

  void rise(Countdown *item, std::size_t hole) {
    while (hole > 0 && item->next < heap[(hole - 1) / 2]->next) {
      put(heap[(hole - 1) / 2], hole);
      hole = (hole - 1) / 2;
    }
    put(item, hole);
  }

  void sink(Countdown *item, std::size_t hole) {
    for (std::size_t child; (child = 2 * hole + 1) < heap.size(); hole = child) {
      if (child + 1 < heap.size() && heap[child + 1]->next < heap[child]->next) child++;
      if (heap[child]->next >= item->next) break;
      put(heap[child], hole);
    }
    put(item, hole);
  }

  void remove(Countdown *item) {
    std::size_t place = item->place;
    item->place = SIZE_MAX;
    Countdown *last = heap.back();
    heap.pop_back();
    if (last == item) return;
    if (place > 0 && last->next < heap[(place - 1) / 2]->next) rise(last, place);
    else sink(last, place);
  }
};

double processorTime() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

int main(int argumentCount, char **arguments) {
  if (argumentCount != 3) return 64;
  const int count = std::atoi(arguments[1]), rounds = std::atoi(arguments[2]);
  std::vector<std::string> names;
  for (int i = 0; i < count; i++) {
    char name[32];
    std::snprintf(name, sizeof name, "control%06d", i);
    names.emplace_back(name);
  }
  Countdowns machine;
  std::uint64_t now = 1000000, random = 88172645463325252U, drained = 0;
  int sinceDrain = 0;
  // A turn of the daemon handles many calls and then takes the events.
  auto turn = [&](int most) {
    if (++sinceDrain < most) return;
    sinceDrain = 0;
    std::vector<Event> taken;
    taken.swap(machine.events);
    drained += taken.size();
  };
  std::vector<double> start, cancel, expire, tick;
  for (int round = 0; round < rounds; round++) {
    double from = processorTime();
    for (const auto &name : names) {
      random ^= random << 13, random ^= random >> 7, random ^= random << 17;
      machine.start(name, 10000000 + random % 10000000, 0, now += 10);
      turn(64);
    }
    start.push_back((processorTime() - from) / count);
    from = processorTime();
    for (int i = 0; i < count; i += 2) {
      machine.cancel(names[static_cast<std::size_t>(i)], now += 10);
      turn(64);
    }
    cancel.push_back((processorTime() - from) / ((count + 1) / 2));
    from = processorTime();
    while (machine.nextDeadline() != 0) {
      machine.advance(now = machine.nextDeadline());
      turn(1);
    }
    expire.push_back((processorTime() - from) / (count / 2));

    for (const auto &name : names) machine.start(name, 20000000, 1000000, now += 1000000 / count);
    turn(1);
    std::uint64_t before = drained;
    from = processorTime();
    for (std::uint64_t end = now + 10000000; now < end;) {
      machine.advance(now = machine.nextDeadline());
      turn(1);
    }
    tick.push_back((processorTime() - from) / static_cast<double>(drained - before));
    for (const auto &name : names) machine.cancel(name, now);
    turn(1);
  }
  std::printf("{\"start_ns\": %.1f, \"cancel_ns\": %.1f, \"expire_ns\": %.1f, \"tick_ns\": %.1f}\n",
              median(start), median(cancel), median(expire), median(tick));
}
