/* scheduler/pool.c, park.c, slots.c: tasks come from outside and from tasks, workers sleep and are woken, and every running task beyond the first has a token
 * of a jobserver from which another process takes, too, perhaps for ever. Taking from the deques is one step here: deque.pml is about that, and slots.pml about three that
 * want slots.
 * No worker may sleep while something is ready that could run (the run would not end), never may more run than there are tokens and one, and in the end
 * all tokens are back. Each BUG_… takes one precaution away, and must be found. */
#define WORKERS 2
#define TOKENS 1
#define FROM_OUTSIDE 2
#define FROM_TASKS 2 /* the first task makes so many */

byte ready, ended, running, gone;
bool stop, made;
/* park.c */
byte sleepers, permits;
/* slots.c */
bool lock, own_taken, watching, called;
byte waiting, signals; /* of the condition */
byte tokens = TOKENS, kept;

inline signal_one() { if :: signals < waiting -> signals++ :: else fi }

#define HAS_WORK (!stop && ready > 0)

inline leave_park()
{
	sleepers--;
	if
	:: permits > sleepers -> permits = sleepers
	:: else
	fi
}

inline wake(n)
{
	if
	:: sleepers == 0
	:: else ->
		atomic {
			if
			:: permits + n <= sleepers -> permits = permits + n
			:: else -> permits = sleepers
			fi
		}
	fi
}

inline publish(n)
{
#ifdef BUG_WAKES_BEFORE_IT_PUBLISHES
	wake(n);
	atomic { ready = ready + n }
#else
	atomic { ready = ready + n };
	wake(n)
#endif
}

inline call_one()
{
	if
	:: watching -> called = true
	:: else -> signal_one()
	fi
}

inline try_enter()
{
	if
	:: !own_taken -> own_taken = true; entered = 1
	:: own_taken && tokens > 0 -> tokens--; entered = 2
	:: else
	fi
}

/* With the lock held. */
inline pass_on()
{
	if
	:: !watching -> signal_one()
	:: else
	fi
}

/* entered: 0 no, 1 with the process's own slot, 2 with a token. Under the lock only two moments can be seen by those without it: when it asks whether
 * there is work, and when it looks for a slot. */
inline enter()
{
	entered = 0;
	watches = false;
	do
	:: atomic {
		!lock -> lock = true;
		if
		:: watches -> watching = false; watches = false
		:: else
		fi;
		wanted = HAS_WORK
	};
	atomic {
		if
		:: wanted -> try_enter()
		:: else
		fi;
		if
		:: !wanted || entered > 0 -> pass_on(); lock = false; break
		:: else
		fi;
		if
		:: watching -> waiting++
		:: else -> watching = true; watches = true
		fi;
		lock = false
	};
	if
	:: atomic { watches && (called || tokens > 0) -> called = false }
	:: atomic { !watches && signals > 0 -> signals--; waiting-- }
	fi
	od
}

inline leave()
{
	atomic {
		!lock;
		if
		:: entered == 1 -> own_taken = false
		:: else -> tokens++
		fi;
		call_one()
	}
}

active [WORKERS] proctype worker()
{
	byte entered, freed;
	bool got, wanted, watches;

	do
	:: stop -> break
	:: else ->
		enter();
		if
		:: entered > 0 ->
			atomic {
				if
				:: !stop && ready > 0 -> ready--; got = true; running++
				:: else -> got = false
				fi
			};
			if
			:: got ->
				assert(running <= 1 + TOKENS - kept);
				freed = 0;
				atomic {
					if
					:: !made -> made = true; freed = FROM_TASKS
					:: else
					fi
				};
				atomic { ready = ready + freed };
				atomic { running--; ended++ };
				leave();
				if
				:: freed > 1 -> wake(freed - 1)
				:: else
				fi
			:: else ->
#ifdef BUG_TOKEN_IS_FORGOTTEN
				if
				:: entered == 1 -> leave()
				:: else
				fi
#else
				leave()
#endif
				;
				if
				:: HAS_WORK -> got = true
				:: else
				fi
			fi
		:: else -> got = false
		fi;
		if
		:: got
		:: else -> /* worker_main */
			atomic { sleepers++ };
			if
#ifndef BUG_SLEEPS_WITHOUT_A_LAST_LOOK
			:: HAS_WORK || stop -> atomic { leave_park() }
#endif
			:: else -> atomic { permits > 0 -> permits--; leave_park() }
			fi
		fi
	od;
	gone++
}

/* The thread that makes the pool, submits, waits for everything, and frees it. */
active proctype outside()
{
	byte i;

	for (i : 1 .. FROM_OUTSIDE) {
		publish(1)
	}
	ended == FROM_OUTSIDE + FROM_TASKS;
	stop = true;
	wake(WORKERS);
	atomic { !lock; signals = waiting; call_one() };
	gone == WORKERS + 1;
	assert(ready == 0 && running == 0 && !own_taken && tokens + kept == TOKENS)
}

/* Another process under the same make. */
active proctype other()
{
	do
	:: atomic { tokens > 0 && kept == 0 -> tokens--; kept++ };
		if
		:: atomic { kept--; tokens++ } /* gives it back */
		:: break                       /* keeps it */
		fi
	:: break
	od;
	gone++
}
