package node

import (
	"context"

	"github.com/mayflydb/mayfly/internal/kv"
)

// watchEngine notices when the present engine fails.
func (n *Node) watchEngine() {
	if n.unwatch != nil {
		n.unwatch()
		n.unwatch = nil
	}
	f, ok := n.engine.(kv.Failer)
	if !ok {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	n.unwatch = cancel
	go func() {
		select {
		case <-f.Failed():
			n.failing.Do(func() { close(n.failed) })
		case <-ctx.Done():
		}
	}()
}

// Failed is closed when the engine has failed permanently, as kv.Failer has it.
func (n *Node) Failed() <-chan struct{} { return n.failed }

// Refuses returns the reason why the engine rejects writes at present, nil if it accepts them.
func (n *Node) Refuses() error {
	if !n.gate.tryEnter() { // a snapshot is being loaded
		return nil
	}
	defer n.gate.Leave()
	return n.refuses()
}

// Shrink makes an idle engine return memory to the system.
func (n *Node) Shrink(ctx context.Context) error {
	n.gate.Enter()
	defer n.gate.Leave()
	if engine, ok := n.engine.(kv.Shrinker); ok {
		return engine.Shrink(ctx)
	}
	return nil
}
