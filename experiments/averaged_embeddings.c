/* Averaged embeddings and a hierarchical softmax, example by example. Compiled and called by
 * averaged_embeddings.py, which says what it computes. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 16 };

typedef struct {
  size_t n_rows, n_dimensions, n_nodes;
  float rate;
  float *embeddings;       /* n_rows x n_dimensions */
  float *deciders;         /* n_nodes x n_dimensions */
  const int64_t *children; /* n_nodes x 2: a node, or -1 - class; the root is the last */
  const int64_t *way_starts; /* of every class: where its way begins, and one more */
  const int64_t *way_nodes;
  const float *way_sides;
} Model;

typedef struct {
  double cost;
  int64_t node;
} Open;

static float dot(const float *a, const float *b, size_t n) {
  float sums[LANES] = {0}, sum = 0;
  size_t i = 0;
  for (; i + LANES <= n; i += LANES)
    for (size_t j = 0; j < LANES; ++j) sums[j] += a[i + j] * b[i + j];
  for (; i < n; ++i) sum += a[i] * b[i];
  for (size_t j = 0; j < LANES; ++j) sum += sums[j];
  return sum;
}

static void add(float *to, float factor, const float *from, size_t n) {
  for (size_t i = 0; i < n; ++i) to[i] += factor * from[i];
}

static float *embedding(const Model *model, int64_t feature) {
  return model->embeddings + (size_t)feature % model->n_rows * model->n_dimensions;
}

static void mean(const Model *model, const int64_t *features, size_t n, float *hidden) {
  memset(hidden, 0, model->n_dimensions * sizeof *hidden);
  for (size_t i = 0; i < n; ++i)
    add(hidden, 1.0f, embedding(model, features[i]), model->n_dimensions);
  for (size_t i = 0; i < model->n_dimensions && n > 0; ++i) hidden[i] /= (float)n;
}

static void learn(const Model *model, const int64_t *features, size_t n, int64_t label,
                  const float *hidden, float *gradient) {
  const size_t d = model->n_dimensions;
  memset(gradient, 0, d * sizeof *gradient);
  for (int64_t i = model->way_starts[label]; i < model->way_starts[label + 1]; ++i) {
    float *decider = model->deciders + (size_t)model->way_nodes[i] * d;
    const float chance = 1.0f / (1.0f + expf(-dot(decider, hidden, d)));
    const float step = model->rate * (model->way_sides[i] - chance);
    add(gradient, step, decider, d);
    add(decider, step, hidden, d);
  }
  for (size_t i = 0; i < n; ++i) add(embedding(model, features[i]), 1.0f / (float)n, gradient, d);
}

static double log1p_exp(double x) { return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x)); }

static size_t push(Open *heap, size_t size, Open open) {
  size_t at = size;
  for (; at > 0 && open.cost < heap[(at - 1) / 2].cost; at = (at - 1) / 2)
    heap[at] = heap[(at - 1) / 2];
  heap[at] = open;
  return size + 1;
}

static size_t pop(Open *heap, size_t size) {
  const Open last = heap[--size];
  size_t at = 0;
  for (size_t next = 1; next < size; next = 2 * at + 1) {
    if (next + 1 < size && heap[next + 1].cost < heap[next].cost) ++next;
    if (last.cost <= heap[next].cost) break;
    heap[at] = heap[next];
    at = next;
  }
  heap[at] = last;
  return size;
}

/* The most probable class, by a search from the root, the most probable first. */
static int64_t predict(const Model *model, const float *hidden, Open *heap) {
  size_t size = push(heap, 0, (Open){0.0, (int64_t)model->n_nodes - 1});
  for (;;) {
    const Open open = heap[0];
    if (open.node < 0) return -1 - open.node;
    size = pop(heap, size);
    const size_t node = (size_t)open.node;
    const float *decider = model->deciders + node * model->n_dimensions;
    const double margin = dot(decider, hidden, model->n_dimensions);
    size = push(heap, size, (Open){open.cost + log1p_exp(margin), model->children[2 * node]});
    size = push(heap, size, (Open){open.cost + log1p_exp(-margin), model->children[2 * node + 1]});
  }
}

/* Rows in turn: each is answered, then learned. Returns 0, or 1 if there is no memory. */
int embeddings_run(const Model *model, size_t n, const int64_t *starts, const int64_t *features,
                   const int64_t *labels, int64_t *answers) {
  float *hidden = malloc(2 * model->n_dimensions * sizeof *hidden);
  Open *heap = malloc((model->n_nodes + 2) * sizeof *heap);
  const int ready = hidden != NULL && heap != NULL;
  for (size_t i = 0; ready && i < n; ++i) {
    const int64_t *row = features + starts[i];
    const size_t length = (size_t)(starts[i + 1] - starts[i]);
    mean(model, row, length, hidden);
    answers[i] = predict(model, hidden, heap);
    learn(model, row, length, labels[i], hidden, hidden + model->n_dimensions);
  }
  free(hidden);
  free(heap);
  return ready ? 0 : 1;
}
