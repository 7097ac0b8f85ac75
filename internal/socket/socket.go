// Package socket has TCP connections whose reads and writes Go's scheduler does not know about.
//
// The scheduler's monitor, a thread of its own, sleeps while nothing runs. Each system call that the scheduler is told
// of wakes it, because the call may last, and then it looks around every 20 µs for a millisecond or longer. A server
// with few clients is idle a thousand times a second, so the monitor took up to a fifth of its processor time
// (docs/decisions/0046-socket-calls-that-the-scheduler-does-not-know.md). Reads and writes of a socket that does not
// block need no monitor.
package socket

import "net"

// Listener returns a listener that accepts from l. Where the system allows it, its connections do without the monitor;
// otherwise it is l.
func Listener(l net.Listener) net.Listener { return listener(l) }
