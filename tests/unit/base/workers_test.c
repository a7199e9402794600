/* Workers run every job once, the queue is bounded, and stopping runs what is queued. */
#include "server/base/budget.h"
#include "server/base/workers.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

TestSuite(workers, .timeout = 30);

static _Atomic int begun, ended, ran;
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static void *begin(void *closure)
{
    begun++;
    return closure;
}

static void end(void *closure, void *context)
{
    (void)closure;
    (void)context;
    ended++;
}

static void run(void *closure, void *context)
{
    (void)context;
    if (closure != NULL) {
        pthread_mutex_lock(&gate);
        pthread_mutex_unlock(&gate);
    }
    ran++;
}

static const struct worker_hooks hooks = {.begin = begin, .end = end};

Test(workers, every_job_runs_once_and_the_rest_on_stop)
{
    struct workers *workers = workers_start(3, 1000, &hooks);
    cr_assert(workers != NULL);
    for (int i = 0; i < 1000; i++)
        cr_assert(workers_submit(workers, run, NULL) ||
                  (usleep(1000), workers_submit(workers, run, NULL)));
    workers_stop(workers);
    cr_expect(ran == 1000 && begun == 3 && ended == 3, "%d ran", ran);
}

Test(workers, a_full_queue_says_no)
{
    struct workers *workers = workers_start(1, 4, &hooks);
    int taken = 0;
    pthread_mutex_lock(&gate);
    cr_assert(workers_submit(workers, run, &gate));
    while (workers_waiting(workers) > 0)
        usleep(1000);
    for (int i = 0; i < 10; i++)
        taken += workers_submit(workers, run, NULL);
    cr_expect(taken == 4, "%d taken", taken);
    pthread_mutex_unlock(&gate);
    workers_stop(workers);
    cr_expect(ran == 5);
}

Test(workers, a_budget_never_goes_over)
{
    struct budget budget = {.limit_bytes = 100};
    cr_expect(budget_take(&budget, 60) && !budget_take(&budget, 41) && budget_take(&budget, 40));
    budget_give(&budget, 60);
    cr_expect(budget_take(&budget, 60) && !budget_take(&budget, 1));
    cr_expect(!budget_take(&budget, (size_t)-1));
}
