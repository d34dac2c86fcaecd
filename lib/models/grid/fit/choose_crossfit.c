/* Scores of tasks by estimates that have not seen what they are scored on.  Tasks may have more
 * numbers than a few cells for each can tell: what they were fitted to, they predict too well. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "models/grid/fit/choose_private.h"

/* How many parts the cells held out are in, at most. */
enum { MOST_PARTS = 8 };

bool gpnn_grid_choice_has_tasks(const struct gpnn_grid_choice *choice)
{
  const struct gpnn_grid_process *grid = &choice->best.parameters.grid;
  for (size_t a = 0; a < grid->n_factors; a++)
    if (grid->factor[a].n_terms == 0) return true;
  return false;
}

/* Hides no more of a site than the cells beside each other of which its first target is one.  A
 * level of few cells that loses as many as another one lacks is known much worse than either. */
static void trim(struct gpnn_grid_task *task, const size_t *first)
{
  size_t from = first[task->site], n = first[task->site + 1] - from, kept = 0;
  size_t low = task->target[0] - from, high = low;
  while (low > 0 && task->is_hidden[low - 1]) low--;
  while (high + 1 < n && task->is_hidden[high + 1]) high++;
  for (size_t i = 0; i < n; i++) task->is_hidden[i] = task->is_hidden[i] && i >= low && i <= high;
  for (size_t t = 0; t < task->n; t++)
    if (task->target[t] >= from + low && task->target[t] <= from + high)
      task->target[kept++] = task->target[t];
  task->n = kept;
}

enum gpnn_status gpnn_grid_choice_part_tasks(struct gpnn_grid_choice *choice,
                                             const struct gpnn_grid_view *view,
                                             struct gpnn_error *err)
{
  bool has_few = choice->best.parameters.grid.factor[0].n_terms == 0;
  struct gpnn_grid_tasks *tasks = &choice->tasks;
  bool *seen = gpnn_alloc(choice->dataset->grid->n_cells, 1, sizeof *seen);
  size_t n = 0;
  if (seen == NULL) return gpnn_fail_memory(err, "for cells held out");
  for (size_t i = 0; i < tasks->n; i++) {
    struct gpnn_grid_task *task = &tasks->task[i];
    bool is_new = true;
    if (has_few && task->hidden_factor == 0) trim(task, view->first);
    for (size_t t = 0; t < task->n; t++) is_new = is_new && !seen[task->target[t]];
    for (size_t t = 0; t < task->n && is_new; t++) seen[task->target[t]] = true;
    if (is_new)
      tasks->task[n++] = *task;
    else
      gpnn_grid_task_release(task);
  }
  tasks->n = n;
  free(seen);
  return GPNN_OK;
}

/* The samples without the cells of part 'part'; 'is_out' is scratch, of all cells. */
static enum gpnn_status leave_out(const struct gpnn_grid_choice *choice, size_t part, bool *is_out,
                                  struct gpnn_grid_samples *rest, struct gpnn_error *err)
{
  const struct gpnn_grid_samples *all = &choice->blocks;
  memset(is_out, 0, choice->dataset->grid->n_cells * sizeof *is_out);
  for (size_t i = part; i < choice->tasks.n; i += choice->n_parts)
    for (size_t t = 0; t < choice->tasks.task[i].n; t++)
      is_out[choice->tasks.task[i].target[t]] = true;
  rest->chosen = gpnn_alloc(all->n, 1, sizeof *rest->chosen);
  rest->n_cells = gpnn_alloc(all->n, 1, sizeof *rest->n_cells);
  bool is_complete = rest->chosen != NULL && rest->n_cells != NULL;
  for (size_t b = 0; b < all->n && is_complete; b++) {
    size_t n = 0,
           *chosen = rest->chosen[rest->n++] = gpnn_alloc(all->n_cells[b], 1, sizeof *chosen);
    is_complete = chosen != NULL;
    for (size_t c = 0; c < all->n_cells[b] && is_complete; c++)
      if (!is_out[all->chosen[b][c]]) chosen[n++] = all->chosen[b][c];
    rest->n_cells[b] = n;
  }
  return is_complete ? GPNN_OK : gpnn_fail_memory(err, "for samples of cells");
}

/* Estimates the parameters of one part from the trial's values on. */
static enum gpnn_status fit_part(const struct gpnn_grid_choice *choice,
                                 const struct gpnn_grid_trial *trial,
                                 const struct gpnn_grid_view *view, size_t evaluations, size_t part,
                                 struct gpnn_parameters *parameters, bool *is_out,
                                 struct gpnn_error *err)
{
  const struct gpnn_grid_fit_options options = {.evaluations = evaluations,
                                                .scans = true,
                                                .task_spread = trial->task_spread,
                                                .held = choice->held,
                                                .threads = choice->options->threads};
  struct gpnn_grid_samples rest = {0};
  struct gpnn_grid_fit_report report;
  enum gpnn_status status = leave_out(choice, part, is_out, &rest, err);
  if (status == GPNN_OK) status = gpnn_grid_fit(parameters, view, &rest, &options, &report, err);
  gpnn_grid_samples_release(&rest);
  return status;
}

enum gpnn_status gpnn_grid_choice_crossfit(struct gpnn_grid_choice *choice,
                                           struct gpnn_grid_trial *trial, size_t evaluations,
                                           struct gpnn_error *err)
{
  struct gpnn_grid_trial copy[MOST_PARTS] = {0};
  struct gpnn_parameters part[MOST_PARTS];
  struct gpnn_grid_view view;
  struct gpnn_grid grid;
  bool *is_out = gpnn_alloc(choice->dataset->grid->n_cells, 1, sizeof *is_out);
  gpnn_grid_score_release(&trial->score);
  enum gpnn_status status = gpnn_grid_choice_view(choice, trial, &grid, &view, err);
  if (status == GPNN_OK && is_out == NULL) status = gpnn_fail_memory(err, "for cells held out");
  for (size_t k = 0; k < choice->n_parts && status == GPNN_OK; k++) {
    status = gpnn_grid_trial_copy(&copy[k], trial, err);
    if (status == GPNN_OK)
      status = fit_part(choice, trial, &view, evaluations, k, &copy[k].parameters, is_out, err);
    part[k] = copy[k].parameters;
  }
  if (status == GPNN_OK)
    status = gpnn_grid_score(&trial->score, choice->dataset, &view, choice->n_parts, part,
                             &choice->tasks, choice->options->threads, err);
  for (size_t k = 0; k < MOST_PARTS; k++) gpnn_grid_trial_release(&copy[k]);
  gpnn_grid_view_release(&view);
  free(is_out);
  return status;
}
