package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/remote"
)

// clock is the command that shows or moves the clock of a running mayfly, through its admin API.
func (c command) clock() *cobra.Command {
	return family(
		&cobra.Command{
			Use:   "clock",
			Short: "Show or move the clock of a running mayfly",
			Long:  "Show or move the clock of a running mayfly, through its admin address.",
		},
		c.showClock(), c.advanceClock(), c.setClock(),
	)
}

// A clockState is the answer of the admin API.
type clockState struct {
	Time        time.Time `json:"time"`
	Virtual     bool      `json:"virtual"`
	StandsStill bool      `json:"standsStill,omitempty"`
}

func (c command) showClock() *cobra.Command {
	return c.online(
		&cobra.Command{Use: "show", Short: "Show the clock", Args: cobra.NoArgs},
		func(ctx context.Context, s *session) error {
			return s.clock(ctx, http.MethodGet, remote.Path("clock"), nil)
		},
	)
}

func (c command) advanceClock() *cobra.Command {
	cmd := c.online(
		&cobra.Command{
			Use:   "advance DURATION",
			Short: "Move a virtual clock forward, by 90s, 24h or 2w",
			Example: "  mayfly clock advance 90d\n" +
				"  mayfly clock advance 1h30m",
			Args: cobra.ExactArgs(1),
		},
		func(ctx context.Context, s *session) error {
			d, err := clock.ParseDuration(s.args[0])
			if err == nil && d < 0 {
				err = clock.ErrBackwards
			}
			if err != nil {
				return usage{err}
			}
			return s.clock(ctx, http.MethodPost, remote.Path("clock", "advance"),
				map[string]string{"duration": d.String()})
		},
	)
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		flag, ok := errors.AsType[*pflag.NotExistError](err)
		if ok && strings.ContainsAny(flag.GetSpecifiedShortnames(), "0123456789") { // -5s, which looks like flags
			return clock.ErrBackwards
		}
		return unknownFlag(cmd, err)
	})
	return cmd
}

func (c command) setClock() *cobra.Command {
	return c.online(
		&cobra.Command{
			Use:     "set TIME",
			Short:   "Move a virtual clock forward to a time like 2026-03-01T12:00:00Z",
			Example: "  mayfly clock set 2026-03-01T12:00:00Z",
			Args:    cobra.ExactArgs(1),
		},
		func(ctx context.Context, s *session) error {
			if _, err := clock.ParseTime(s.args[0]); err != nil {
				return usage{err}
			}
			return s.clock(ctx, http.MethodPost, remote.Path("clock", "set"), map[string]string{"time": s.args[0]})
		},
	)
}

// clock sends a request about the clock, and prints what the clock shows then.
func (s *session) clock(ctx context.Context, method, path string, body any) error {
	return ask(ctx, s, method, path, body, func(answer clockState) error {
		if answer.StandsStill {
			fmt.Fprintln(s.c.err, "mayfly: the clock stands still until the machine's clock reaches it")
		}
		return s.say("%s", answer.Time.Format(time.RFC3339Nano))
	})
}
