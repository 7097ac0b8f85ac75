package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mayflydb/mayfly/internal/remote"
	"github.com/mayflydb/mayfly/internal/terminal"
)

// audit is the command that shows who changed what.
func (c command) audit() *cobra.Command {
	since, most := "", 0
	cmd := c.online(
		&cobra.Command{
			Use:   "audit",
			Short: "Show who changed what: containers, policies, users, keys, the clock",
			Long: "Show who changed containers, policies, indexes, scripts, users, keys and the clock of a running\n" +
				"mayfly, the oldest change first. With --json, one line of JSON for each.",
			Example: "  mayfly audit --since 24h\n" +
				"  mayfly audit --max 0 --json > audit.jsonl",
			Args: cobra.NoArgs,
		},
		func(ctx context.Context, s *session) error {
			if most < 0 {
				return usage{fmt.Errorf("--max: %d is no number of changes", most)}
			}
			query := url.Values{"max": {strconv.Itoa(most)}}
			if since != "" {
				query.Set("since", since)
			}
			answer, err := s.Stream(ctx, http.MethodGet, remote.Path("audit")+queryText(query), "", nil)
			if err != nil {
				return err
			}
			defer answer.Body.Close()
			if s.json {
				_, err := io.Copy(c.out, answer.Body)
				return err
			}
			return s.showEvents(answer.Body)
		},
	)
	cmd.Flags().StringVar(&since, "since", "",
		"changes since then: a duration such as 24h, or a time such as 2026-03-01T12:00:00Z")
	cmd.Flags().IntVar(&most, "max", 1000,
		"the most changes to show: the newest, or with --since the first; 0 shows all")
	return cmd
}

// An auditEvent is a line of the audit trail.
type auditEvent struct {
	Time                                          time.Time
	API, Principal, Address, Action, Kind, Target string
	Changes                                       []struct {
		Name          string
		Before, After json.RawMessage
	}
}

// showEvents prints a line for each event.
func (s *session) showEvents(body io.Reader) error {
	for in := json.NewDecoder(body); ; {
		var e auditEvent
		if err := in.Decode(&e); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("the audit trail ended early: %w", err)
		}
		err := s.say("%s  %s  %s", e.Time.Format(time.RFC3339), words(e.Action, e.Kind, e.Target),
			words(e.API, e.Principal, e.Address))
		for _, change := range e.Changes {
			line := change.Name + ": " + transition(change.Before, change.After)
			err = errors.Join(err, s.say("    %s", terminal.Plain(line)))
		}
		if err != nil {
			return err
		}
	}
}

// words joins texts that are not empty.
func words(texts ...string) string {
	return terminal.Plain(strings.Join(strings.Fields(strings.Join(texts, " ")), " "))
}

func transition(before, after json.RawMessage) string {
	switch {
	case before == nil:
		return string(after)
	case after == nil:
		return string(before) + " -> gone"
	}
	return string(before) + " -> " + string(after)
}
