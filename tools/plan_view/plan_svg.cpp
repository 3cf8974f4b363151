#include <iomanip>
#include <sstream>

#include "tools/plan_view/plan_json.hpp"

namespace thimble {

namespace {

constexpr double kWidth = 1100, kHeight = 620, kLeft = 90, kTop = 70, kBottom = 60, kRight = 20;
constexpr double kPersistentWidth = 90, kSpace = 60;

const char* colour_of(TensorKind k) {
  switch (k) {
    case TensorKind::weight: return "#355c7d";
    case TensorKind::first_moment: return "#6c8ead";
    case TensorKind::second_moment: return "#93adc4";
    case TensorKind::weight_gradient: return "#c06c4e";
    case TensorKind::ids: return "#999999";
    case TensorKind::output: return "#4f9d69";
    case TensorKind::saved: return "#a7c957";
    case TensorKind::gradient: return "#e09f3e";
    case TensorKind::scratch: return "#b5a7c9";
    case TensorKind::cache: return "#5fa8d3";
  }
  return "#000000";
}

std::string megabytes(std::int64_t bytes) {
  std::ostringstream s;
  s << std::fixed << std::setprecision(2);
  if (bytes >= 1 << 20) {
    s << double(bytes) / double(1 << 20) << " MiB";
  } else {
    s << double(bytes) / 1024 << " KiB";
  }
  return s.str();
}

class Picture {
 public:
  void rectangle(double x, double y, double w, double h, const char* fill, const std::string& title) {
    out_ << "<rect x='" << x << "' y='" << y << "' width='" << std::max(w, 0.4) << "' height='" << std::max(h, 0.2)
         << "' fill='" << fill << "' stroke='#ffffff' stroke-width='0.3'><title>" << title << "</title></rect>\n";
  }
  void text(double x, double y, const std::string& words, const char* anchor = "start", int size = 13) {
    out_ << "<text x='" << x << "' y='" << y << "' font-size='" << size << "' text-anchor='" << anchor << "'>" << words
         << "</text>\n";
  }
  void line(double x1, double y1, double x2, double y2) {
    out_ << "<line x1='" << x1 << "' y1='" << y1 << "' x2='" << x2 << "' y2='" << y2
         << "' stroke='#444444' stroke-width='1' stroke-dasharray='4 3'/>\n";
  }
  std::string finish() const {
    std::ostringstream s;
    s << "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 " << kWidth << " " << kHeight
      << "' font-family='sans-serif' fill='#222222'>\n<rect width='100%' height='100%' fill='#ffffff'/>\n"
      << out_.str() << "</svg>\n";
    return s.str();
  }

 private:
  std::ostringstream out_;
};

/// What persists: one column, each region as high as its share.
void draw_persistent(Picture& p, const PlanData& plan) {
  const double height = kHeight - kTop - kBottom;
  const auto y_of = [&](std::int64_t at) {
    return kHeight - kBottom - height * double(at) / double(std::max<std::int64_t>(1, plan.persistent_end));
  };
  const struct {
    const char* name;
    std::int64_t begin, end;
    TensorKind kind;
  } regions[] = {{"weights", 0, plan.weights_end, TensorKind::weight},
                 {"moments", plan.weights_end, plan.moments_end, TensorKind::first_moment},
                 {"gradients", plan.moments_end, plan.gradients_end, TensorKind::weight_gradient},
                 {"inputs", plan.gradients_end, plan.persistent_end, TensorKind::ids}};
  for (const auto& r : regions) {
    if (r.end == r.begin) continue;
    const double y = y_of(r.end), h = y_of(r.begin) - y;
    p.rectangle(kLeft, y, kPersistentWidth, h, colour_of(r.kind), std::string(r.name) + ", " + megabytes(r.end - r.begin));
    if (h > 16) p.text(kLeft + kPersistentWidth / 2, y + h / 2 + 4, r.name, "middle", 12);
  }
  p.text(kLeft + kPersistentWidth / 2, kTop - 10, "persistent " + megabytes(plan.persistent_end), "middle");
}

void draw_transient(Picture& p, const Model& model, const PlanData& plan) {
  const double x0 = kLeft + kPersistentWidth + kSpace, width = kWidth - kRight - x0;
  const double height = kHeight - kTop - kBottom;
  const double steps = double(plan.steps.size() + 1);
  const double scale = height / double(std::max<std::int64_t>(1, plan.transient_bytes));
  for (const Tensor& t : plan.tensors) {
    if (t.offset < plan.persistent_end || t.bytes == 0) continue;
    const double top = double(t.offset - plan.persistent_end + t.bytes);
    p.rectangle(x0 + width * t.first / steps, kHeight - kBottom - top * scale,
                width * (t.last - t.first + 1) / steps, double(t.bytes) * scale, colour_of(t.kind),
                tensor_label(model, t) + ", " + megabytes(t.bytes) + ", steps " + std::to_string(t.first) + " to " +
                    std::to_string(t.last));
  }
  const double x = x0 + width * plan.backward_begin / steps;
  p.line(x, kTop, x, kHeight - kBottom);
  p.text(x, kHeight - kBottom + 16, "backward begins", "middle", 12);
  p.text(x0, kHeight - kBottom + 16, "step 0", "start", 12);
  p.text(x0 + width, kHeight - kBottom + 16, "update", "end", 12);
  p.text(x0 + width / 2, kTop - 10,
         "transient " + megabytes(plan.transient_bytes) + ", lower bound " + megabytes(plan.transient_lower_bound),
         "middle");
}

void draw_legend(Picture& p) {
  const std::pair<TensorKind, const char*> entries[] = {{TensorKind::output, "activation"},
                                                        {TensorKind::saved, "statistics"},
                                                        {TensorKind::gradient, "gradient"},
                                                        {TensorKind::weight_gradient, "of a weight"},
                                                        {TensorKind::scratch, "workspace"},
                                                        {TensorKind::cache, "cache"}};
  double x = kLeft + kPersistentWidth + kSpace;
  for (const auto& [kind, name] : entries) {
    p.rectangle(x, kHeight - 24, 14, 14, colour_of(kind), name);
    p.text(x + 20, kHeight - 12, name, "start", 12);
    x += 110;
  }
}

}  // namespace

std::string plan_svg(const Model& model, const PlanData& plan) {
  Picture p;
  const Extent& e = plan.options.extent;
  p.text(kLeft, 28,
         model.name + ": arena of " + megabytes(plan.bytes()) + " for " + std::to_string(e.batch) + " x " +
             std::to_string(e.context) + " tokens",
         "start", 18);
  draw_persistent(p, plan);
  draw_transient(p, model, plan);
  draw_legend(p);
  return p.finish();
}

}  // namespace thimble
