#include "net/timer_wheel.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "support/catch.hpp"

namespace weir::net {

namespace {

struct Alarm {
    explicit Alarm(std::function<void()> call) : then(std::move(call)) {}
    static void fire(void* self) { static_cast<Alarm*>(self)->then(); }

    std::function<void()> then;
    Timer timer{&Alarm::fire, this};
};

struct Log {
    std::function<void()> note(char name) {
        return [this, name] { text += name; };
    }
    std::string text;
};

}  // namespace

TEST_CASE("timers fire by deadline and, where it is the same, in the order of arming") {
    TimerWheel wheel(5);
    Log log;
    Alarm a(log.note('a')), b(log.note('b')), c(log.note('c')), d(log.note('d'));
    wheel.arm(a.timer, 30);
    wheel.arm(b.timer, 7);
    wheel.arm(c.timer, 30);
    wheel.arm(d.timer, 12);
    CHECK(wheel.nextTick() == 7);

    SECTION("tick by tick") {
        for (std::uint64_t tick = 6; tick < 30; ++tick) wheel.advance(tick);
        CHECK(log.text == "bd");
        wheel.advance(30);
    }
    SECTION("all at once after a long sleep") { wheel.advance(100'000); }
    CHECK(log.text == "bdac");
    CHECK_FALSE(a.timer.armed());
    CHECK(wheel.nextTick() == TimerWheel::kNever);
}

TEST_CASE("a timer fires exactly at its deadline, however many turns away") {
    const std::uint64_t start = GENERATE(as<std::uint64_t>{}, 0, 1, 63, 64, 1023, 1024, 123'456'789);
    const std::uint64_t delay =
        GENERATE(as<std::uint64_t>{}, 1, 2, 63, 64, 65, 1023, 1024, 1025, 2048, 5000, 100'000);
    TimerWheel wheel(start);
    std::uint64_t now = start;
    std::uint64_t firedAt = 0;
    Alarm alarm([&] { firedAt = now; });
    wheel.arm(alarm.timer, start + delay);
    // As a loop does: to the next tick worth waking for.
    while (alarm.timer.armed()) {
        const std::uint64_t next = wheel.nextTick();
        REQUIRE(next > now);
        REQUIRE(next <= start + delay);
        now = next;
        wheel.advance(now);
    }
    CHECK(firedAt == start + delay);
}

TEST_CASE("a callback may disarm a timer that is due in the same tick") {
    TimerWheel wheel(0);
    Log log;
    Alarm second(log.note('2'));
    Alarm third(log.note('3'));
    Alarm first([&] { second.timer.disarm(); });
    wheel.arm(first.timer, 4);
    wheel.arm(second.timer, 4);
    wheel.arm(third.timer, 4);
    wheel.advance(9);
    CHECK(log.text == "3");
    CHECK(wheel.nextTick() == TimerWheel::kNever);
}

TEST_CASE("a callback may destroy any timer, its own too") {
    TimerWheel wheel(0);
    Log log;
    auto other = std::make_unique<Alarm>(log.note('x'));
    std::unique_ptr<Alarm> self;
    self = std::make_unique<Alarm>([&] {
        other.reset();
        // Through a copy of the pointer: the closure goes with the object.
        std::unique_ptr<Alarm> dying = std::move(self);
        log.text += 's';
    });
    Alarm last(log.note('l'));
    wheel.arm(self->timer, 1);
    wheel.arm(other->timer, 1);
    wheel.arm(last.timer, 1);
    wheel.advance(1);
    CHECK(log.text == "sl");
}

TEST_CASE("a timer that arms itself again waits for a later tick") {
    TimerWheel wheel(0);
    int calls = 0;
    std::uint64_t now = 10;
    Alarm alarm([&] {
        ++calls;
        wheel.arm(alarm.timer, now + 1);
    });
    wheel.arm(alarm.timer, 1);
    wheel.advance(now);
    CHECK(calls == 1);
    CHECK(alarm.timer.armed());
    CHECK(wheel.nextTick() == 11);
    wheel.advance(now = 11);
    CHECK(calls == 2);
}

TEST_CASE("a disarmed timer costs one look at its place and no more") {
    TimerWheel wheel(0);
    Log log;
    Alarm far(log.note('f')), near(log.note('n')), same(log.note('s'));
    wheel.arm(far.timer, 500);
    wheel.arm(near.timer, 3);
    wheel.arm(same.timer, 3 + TimerWheel::kSlots);  // the slot of `near`, a turn later
    near.timer.disarm();
    near.timer.disarm();
    CHECK_FALSE(near.timer.armed());
    CHECK(wheel.nextTick() == 3);
    same.timer.disarm();
    far.timer.disarm();
    std::uint64_t looks = 0;
    for (std::uint64_t next = wheel.nextTick(); next != TimerWheel::kNever; next = wheel.nextTick(), ++looks) {
        REQUIRE(looks < 5);
        wheel.advance(next);
    }
    CHECK(log.text.empty());
}

TEST_CASE("a timer that is armed again fires at the last deadline only") {
    struct Row {
        std::uint64_t first, last;
    };
    const Row row = GENERATE(Row{5, 9}, Row{9, 5}, Row{5, 5}, Row{5, 5 + TimerWheel::kSlots}, Row{3000, 20},
                             Row{20, 3000});
    const bool disarmedBetween = GENERATE(false, true);
    const bool allAtOnce = GENERATE(false, true);
    TimerWheel wheel(0);
    std::uint64_t now = 0;
    std::vector<std::uint64_t> fired;
    Alarm alarm([&] { fired.push_back(now); });
    wheel.arm(alarm.timer, row.first);
    if (disarmedBetween) alarm.timer.disarm();
    wheel.arm(alarm.timer, row.last);
    while (alarm.timer.armed()) {
        now = allAtOnce ? row.last : wheel.nextTick();
        REQUIRE(now <= row.last);
        wheel.advance(now);
    }
    CHECK(fired == std::vector{row.last});
    wheel.advance(10'000);
    CHECK(fired.size() == 1);
}

TEST_CASE("a callback may put off a timer that is due in the same tick") {
    TimerWheel wheel(0);
    Log log;
    Alarm second(log.note('2'));
    Alarm first([&] { wheel.arm(second.timer, 12); });
    wheel.arm(first.timer, 4);
    wheel.arm(second.timer, 4);
    wheel.advance(9);
    CHECK(log.text.empty());
    CHECK(wheel.nextTick() == 12);
    wheel.advance(12);
    CHECK(log.text == "2");
}

TEST_CASE("a timer can move to another wheel, and leaves nothing behind") {
    TimerWheel other(0);
    Log log;
    Alarm alarm(log.note('a'));
    {
        TimerWheel wheel(0);
        wheel.arm(alarm.timer, 3);
        alarm.timer.disarm();
        other.arm(alarm.timer, 7);
        CHECK(wheel.nextTick() == TimerWheel::kNever);
    }
    other.advance(7);
    CHECK(log.text == "a");
}

TEST_CASE("a wheel that ends disarms its timers") {
    Alarm alarm([] {});
    {
        TimerWheel wheel(0);
        wheel.arm(alarm.timer, 3);
    }
    CHECK_FALSE(alarm.timer.armed());
}

}  // namespace weir::net
