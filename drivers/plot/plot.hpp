/// The kinds of picture: each takes a result and gives a drawing, reads and writes nothing.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "data/archive.hpp"
#include "drivers/plot/gnuplot.hpp"

namespace graze {

struct PlotOptions {
  std::string title;
  std::vector<std::string> states;  ///< by name; empty: the first two positions (motions: all, at most four)
  std::vector<std::string> show;    ///< maps: arrays beside the classes, NAME or NAME:LABEL
  int start = -1;  ///< sweeps: only this initial state, from 0; -1: all of them (maps: the first)
  double from = -std::numeric_limits<double>::infinity();  ///< part of the x axis to draw
  double to = std::numeric_limits<double>::infinity();
  int width = 0;   ///< pixels; 0: what the panels need
  int height = 0;  ///< likewise
};

/// All of these throw InputError for a state, array or start that the result does not have.

/// A sweep over one parameter: bifurcation diagram, below it class, period, rises and sticking.
Drawing draw_sweep(const Result& result, const PlotOptions& options);
/// A sweep over two parameters: regions of class and period, and any array of points beside them.
Drawing draw_map(const Result& result, const PlotOptions& options);
/// Impacts over one parameter: slip sequences, below them restitution, contact time, force and losses.
Drawing draw_impacts(const Result& result, const PlotOptions& options);
/// The arrays besides `slip_sequence` that it draws.
const std::vector<std::string>& impact_curves();
/// Basins: initial states in the colours of the attractors they lead to.
Drawing draw_basins(const Result& result, const PlotOptions& options);
/// A continuation: branches and named bifurcation points over the attractors of the sweep.
Drawing draw_branches(const Result& result, const PlotOptions& options);
/// Convergence: errors against the parameter that is to converge, with the order that they show.
Drawing draw_convergence(const Result& result, const PlotOptions& options);
/// A motion: time series with contacts below them, and phase portraits.
Drawing draw_motion(const Result& result, const PlotOptions& options);

}  // namespace graze
