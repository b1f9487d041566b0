/// The kinds of picture: each takes results and gives a picture, reads and writes nothing.
#pragma once

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "data/archive.hpp"
#include "drivers/plot/described.hpp"
#include "drivers/plot/picture.hpp"

namespace graze {

struct PlotOptions {
  std::vector<std::string> panels;  ///< by name, in this order; empty: those that have something to show
  int start = -1;  ///< sweeps: only this initial state, from 0; -1: all of them (maps: the first)
  double from = -std::numeric_limits<double>::infinity();  ///< part of the x axis to draw
  double to = std::numeric_limits<double>::infinity();
  double y_from = -std::numeric_limits<double>::infinity();  ///< part of the y axis of the first panel
  double y_to = std::numeric_limits<double>::infinity();
  std::string over;  ///< curves: the result of a sweep over both parameters, drawn below them; "": none
  Page page;
};

/// A result with what its case says of its names.
struct PlotSource {
  std::string name;  ///< for legends
  Result result;
  Described described;
};

/// A panel that a result can show.
struct PanelOffer {
  std::string name;    ///< what --panels calls it
  bool usual = false;  ///< drawn when nobody asks
  std::function<Panel()> draw{};
  /// Of usual panels: what to say in place of one that has nothing to show; "": it has; none: it always has.
  std::function<std::string()> instead{};
};

/// The panels asked for, or all usual ones that have something to show; `notes` tells of those left out.
/// Throws InputError for a name that is not offered.
std::vector<Panel> chosen_panels(const std::vector<PanelOffer>& offers, const PlotOptions& options,
                                 std::vector<std::string>& notes);
/// Panels one below the other.
std::vector<std::vector<Panel>> stacked(std::vector<Panel> panels);

// All of these throw InputError for a panel or start that the result does not have.

/// A sweep over one parameter: bifurcation diagram, below it class, period, marks and shares of time.
Picture draw_sweep(const PlotSource& source, const PlotOptions& options);
/// A sweep over two parameters: regions of class and period, and any array of points.
Picture draw_map(const PlotSource& source, const PlotOptions& options);
/// Impacts over one parameter: slip sequences, below them restitution, contact time, force and losses.
Picture draw_impacts(const PlotSource& source, const PlotOptions& options);
/// Basins: initial states in the colours of the attractors they lead to.
Picture draw_basins(const PlotSource& source, const PlotOptions& options);
/// A continuation: branches and located points over the attractors of the sweep; multipliers.
Picture draw_branches(const PlotSource& source, const PlotOptions& options);
/// Curves over two parameters with their points of codimension two, over the regions of a sweep over the same
/// parameters (nullptr: none).
Picture draw_curves(const PlotSource& source, const PlotSource* map, const PlotOptions& options);
/// The regions of class and period of a sweep over two parameters.
Panel region_panel(const PlotSource& source, const PlotOptions& options);
/// Convergence: errors against the parameter that is to converge, with the order that they show.
Picture draw_convergence(const PlotSource& source, const PlotOptions& options);
/// A motion: time series with contacts below them, phase portraits, Poincaré section.
Picture draw_motion(const PlotSource& source, const PlotOptions& options);
/// The picture of a result, or of several in one diagram, with title and notes. Throws InputError for what
/// can't be read or drawn.
Picture picture_of(const std::vector<std::string>& files, const PlotOptions& options);
/// The same of results that have been read.
Picture picture_of(const std::vector<PlotSource>& sources, const PlotOptions& options);

/// Several sweeps over one parameter and continuations in one diagram.
Picture draw_overlay(const std::vector<PlotSource>& sources, const PlotOptions& options);

/// What a result of a continuation and a sweep share in a diagram: the marks of one state over the parameter.
/// `colour` "": the colours of a diagram of its own.
void add_sweep_marks(Panel& panel, const PlotSource& source, const PlotOptions& options,
                     const std::string& state, const std::string& colour);
void add_branch_marks(Panel& panel, const PlotSource& source, const std::string& state);
/// Gives a panel the y axis that has room for what is drawn within its x axis.
void fit_y_axis(Panel& panel, std::string label);
/// The parameter of a sweep or a continuation.
std::string diagram_parameter(const PlotSource& source);
/// The states of a sweep or a continuation.
std::vector<std::string> diagram_states(const PlotSource& source);

}  // namespace graze
