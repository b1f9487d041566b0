/// Two observers of one motion.
#pragma once

#include "core/system/event.hpp"

namespace graze {

/// Reports everything to both, pieces if one of them follows them.
class ObserverPair final : public Observer {
 public:
  ObserverPair(Observer& first, Observer& second) : first_(first), second_(second) {}

  void event(const Event& event) override {
    first_.event(event);
    second_.event(event);
  }
  void near_miss(int contact, double time, double speed) override {
    first_.near_miss(contact, time, speed);
    second_.near_miss(contact, time, speed);
  }
  void excursion(int contact, double time, double gap) override {
    first_.excursion(contact, time, gap);
    second_.excursion(contact, time, gap);
  }
  void load(const ContactLoad& load) override {
    first_.load(load);
    second_.load(load);
  }
  bool follows_gaps() const override { return first_.follows_gaps() || second_.follows_gaps(); }
  bool follows_pieces() const override { return first_.follows_pieces() || second_.follows_pieces(); }
  void piece(const MotionPiece& piece) override {
    first_.piece(piece);
    second_.piece(piece);
  }

 private:
  Observer& first_;
  Observer& second_;
};

}  // namespace graze
