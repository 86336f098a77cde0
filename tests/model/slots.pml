/* scheduler/slots.c with three threads: none may wait for ever while the process's own slot, or a token, is free; the other process may keep the token.
 * pool.pml has the same steps among those of the pool. Each BUG_… takes one precaution away, and must be found. */
#define THREADS 3
#define TOKENS 1
#define WORK 3

byte work = WORK, running, gone;
bool lock, own_taken, watching, called;
byte waiting, signals; /* of the condition */
byte tokens = TOKENS, kept;

inline signal_one() { if :: signals < waiting -> signals++ :: else fi }

#define HAS_WORK (work > 0)

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
#ifndef BUG_LEAVES_WITHOUT_A_SIGNAL
	if
	:: !watching -> signal_one()
	:: else
	fi
#else
	skip
#endif
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
#ifndef BUG_OWN_SLOT_IS_LEFT_IN_SILENCE
		call_one()
#endif
	}
}

active [THREADS] proctype thread()
{
	byte entered;
	bool wanted, watches;

	do
	:: enter();
		if
		:: entered == 0 -> break
		:: else
		fi;
		atomic {
			running++;
			assert(running <= 1 + TOKENS - kept);
			if
			:: work > 0 -> work--
			:: else
			fi
		};
		atomic { running-- };
		leave()
	od;
	gone++
}

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

active proctype judge()
{
	gone == THREADS + 1;
	assert(work == 0 && running == 0 && !own_taken && !watching && tokens + kept == TOKENS)
}
