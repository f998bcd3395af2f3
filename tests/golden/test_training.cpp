#include <catch2/catch.hpp>
#include <cmath>

#include "golden/error.hpp"
#include "golden/training.hpp"

namespace bitcycle {
namespace {

TrainingOptions small() {
  TrainingOptions o;
  o.size = 8;
  o.batch = 8;
  o.bits = 8;
  o.learning_rate = 0.05F;
  return o;
}

}  // namespace

TEST_CASE("training: the loss falls over a few steps at 8 bits") {
  ResnetTrainer trainer(small());
  float first = 0.0F;
  float last = 0.0F;
  for (int i = 0; i < 40; ++i) {
    const float loss = trainer.step(golden_backend);
    REQUIRE(std::isfinite(loss));
    if (i < 8) first += loss / 8;
    if (i >= 32) last += loss / 8;
  }
  CAPTURE(first, last);
  CHECK(last < 0.8F * first);
}

TEST_CASE("training: the same options give the same bits, another seed does not") {
  ResnetTrainer a(small()), b(small());
  TrainingOptions other = small();
  other.seed = 2;
  ResnetTrainer c(other);
  for (int i = 0; i < 2; ++i) {
    const float loss = a.step(golden_backend);
    CHECK(loss == b.step(golden_backend));
    CHECK(loss != c.step(golden_backend));
  }
  CHECK(a.layers()[3].weight == b.layers()[3].weight);
}

TEST_CASE("training: a single wrong sum of a backend changes the weights") {
  ResnetTrainer right(small()), wrong(small());
  right.step(golden_backend);
  int calls = 0;
  wrong.step([&](const ConvRequest& request) {
    ConvSums sums = golden_backend(request);
    if (++calls == 5) sums.value[3] += 200;
    return sums;
  });
  CHECK(right.layers()[0].weight != wrong.layers()[0].weight);
}

TEST_CASE("training: at 16 bits a step is that of plain FP32 convolutions") {
  // dW and dX of a layer from its FP32 input and gradient, by plain loops.
  TrainingOptions o = small();
  o.bits = o.grad_bits = 16;
  ResnetTrainer trainer(o);
  const std::vector<ConvLayer> before = trainer.layers();
  trainer.step(golden_backend);
  for (std::size_t l = 0; l < before.size(); ++l) {
    const ConvLayer& layer = trainer.layers()[l];
    const ConvShape& s = layer.shape;
    CAPTURE(layer.name);
    double worst_y = 0, worst_dx = 0, worst_dw = 0, size_y = 0, size_dx = 0, size_dw = 0;
    std::vector<double> y(s.y_size()), dx(s.x_size()), dw(s.w_size());
    for (std::size_t b = 0; b < s.batch; ++b) {
      for (std::size_t oy = 0; oy < s.ho(); ++oy) {
        for (std::size_t ox = 0; ox < s.wo(); ++ox) {
          const std::size_t p = (b * s.ho() + oy) * s.wo() + ox;
          for (std::size_t ky = 0; ky < s.kh; ++ky) {
            for (std::size_t kx = 0; kx < s.kw; ++kx) {
              const std::size_t iy = oy * s.stride_h + ky - s.pad_top;
              const std::size_t ix = ox * s.stride_w + kx - s.pad_left;
              if (iy >= s.hi || ix >= s.wi) continue;
              const std::size_t x = (b * s.hi + iy) * s.wi + ix;
              for (std::size_t n = 0; n < s.cout; ++n) {
                for (std::size_t c = 0; c < s.cin; ++c) {
                  const std::size_t w = ((n * s.kh + ky) * s.kw + kx) * s.cin + c;
                  const double g = layer.grad_output[p * s.cout + n];
                  y[p * s.cout + n] +=
                      static_cast<double>(layer.input[x * s.cin + c]) * before[l].weight[w];
                  dx[x * s.cin + c] += g * before[l].weight[w];
                  dw[w] += g * layer.input[x * s.cin + c];
                }
              }
            }
          }
        }
      }
    }
    const auto compare = [](const std::vector<double>& want, const std::vector<float>& got,
                            double& worst, double& size) {
      for (std::size_t i = 0; i < want.size(); ++i) {
        worst = std::max(worst, std::abs(want[i] - static_cast<double>(got[i])));
        size = std::max(size, std::abs(want[i]));
      }
    };
    compare(y, layer.output, worst_y, size_y);
    compare(dx, layer.grad_input, worst_dx, size_dx);
    compare(dw, layer.grad_weight, worst_dw, size_dw);
    CHECK(worst_y < 2e-3 * size_y);
    CHECK(worst_dx < 2e-3 * size_dx);
    CHECK(worst_dw < 2e-3 * size_dw);
  }
}

TEST_CASE("training: impossible options are refused") {
  TrainingOptions o = small();
  o.bits = 17;
  CHECK_THROWS_AS(ResnetTrainer(o), InputError);
  o = small();
  o.batch = 0;
  CHECK_THROWS_AS(ResnetTrainer(o), InputError);
}

}  // namespace bitcycle
