package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/remote"
	"github.com/mayflydb/mayfly/internal/terminal"
)

// operations is the command about long work of a running mayfly.
func (c command) operations() *cobra.Command {
	list := c.online(
		&cobra.Command{Use: "list", Short: "List long work, newest first", Args: cobra.NoArgs}, listOperations,
	)
	show := c.online(
		&cobra.Command{Use: "show ID", Short: "Show an operation", Args: cobra.ExactArgs(1),
			ValidArgsFunction: c.completeOperations},
		func(ctx context.Context, s *session) error {
			return askFor(ctx, s, remote.OperationPath(s.args[0]), s.showOperation)
		},
	)
	cancel := c.online(
		&cobra.Command{Use: "cancel ID", Short: "Cancel an operation, or forget one that has ended",
			Args: cobra.ExactArgs(1), ValidArgsFunction: c.completeOperations},
		func(ctx context.Context, s *session) error {
			path := remote.OperationPath(s.args[0])
			return ask(ctx, s, http.MethodDelete, path, nil, func(o remote.Operation) error {
				if o.ID == "" { // no content: the operation had ended
					return s.say("operation %s had ended, and is not listed any more", s.args[0])
				}
				return s.showOperation(o)
			})
		},
	)
	return family(
		&cobra.Command{
			Use:   "operations",
			Short: "Show and cancel long work of a running mayfly",
			Example: "  mayfly operations list\n" +
				"  mayfly operations cancel 7GCXKQ2DP4",
		},
		list, show, c.waitOperation(), cancel,
	)
}

func (c command) waitOperation() *cobra.Command {
	return c.online(
		&cobra.Command{
			Use: "wait ID", Short: "Wait for the end of an operation, with its progress",
			Args: cobra.ExactArgs(1), ValidArgsFunction: c.completeOperations,
		},
		func(ctx context.Context, s *session) error {
			var o remote.Operation
			if err := s.Get(ctx, remote.OperationPath(s.args[0]), &o); err != nil {
				return err
			}
			tell, finish := s.progress(o)
			o, err := s.Follow(ctx, o, tell)
			finish()
			if err != nil {
				return err
			}
			return s.showOutcome(o)
		},
	)
}

func (s *session) showOutcome(o remote.Operation) error {
	if s.json {
		return printJSON(s.c.out, o)
	}
	return s.showOperation(o)
}

// operationList is the answer to a request for all operations.
type operationList struct {
	Operations []remote.Operation `json:"operations"`
}

func listOperations(ctx context.Context, s *session) error {
	return askFor(ctx, s, remote.Path("operations"), func(list operationList) error {
		var rows [][]string
		for _, o := range list.Operations {
			rows = append(rows, []string{o.ID, o.Kind, o.Target, o.State, amount(o), took(o)})
		}
		return s.table("no operations", []string{"ID", "KIND", "TARGET", "STATE", ">DONE", ">TIME"}, rows)
	})
}

func (s *session) showOperation(o remote.Operation) error {
	failure := ""
	if err := o.Failure(); err != nil {
		failure = err.Error()
	}
	return s.facts([][2]string{
		{"Operation", o.ID}, {"Kind", o.Kind}, {"Target", o.Target}, {"State", o.State},
		{"Started", o.Started.UTC().Format(time.RFC3339)}, {"Time", took(o)}, {"Done", amount(o)},
		{"Error", failure}, {"Result", string(o.Result)},
	})
}

func took(o remote.Operation) string {
	return clock.FormatDuration(time.Duration(o.Seconds * float64(time.Second)).Round(100 * time.Millisecond))
}

// amount says how much of an operation is done.
func amount(o remote.Operation) string {
	number := terminal.Count
	unit := " " + o.Unit
	if o.Unit == "bytes" {
		number, unit = terminal.Bytes, ""
	}
	switch {
	case o.Total > 0:
		return fmt.Sprintf("%s of %s%s", number(o.Done), number(o.Total), unit)
	case o.Done > 0:
		return number(o.Done) + unit
	}
	return ""
}

// progress shows how far an operation has come: tell takes its state at each change, finish ends the show.
func (s *session) progress(o remote.Operation) (tell func(remote.Operation), finish func()) {
	p := terminal.NewProgress(s.c.err, o.Kind, o.Unit, o.Total)
	return func(o remote.Operation) { p.Set(o.Done, o.Total) }, p.Close
}

// run starts an operation with POST, shows its progress, and returns it when it has succeeded. A person who interrupts
// the command cancels it.
func (s *session) run(ctx context.Context, path string, body any) (remote.Operation, error) {
	var tell func(remote.Operation)
	finish := func() {}
	o, err := s.Run(ctx, http.MethodPost, path, body, func(o remote.Operation) {
		if tell == nil {
			tell, finish = s.progress(o)
		}
		tell(o)
	})
	finish()
	return o, err
}
