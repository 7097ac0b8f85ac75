package main

import (
	"context"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"github.com/mayflydb/mayfly/internal/clock"
)

// An explanation says when an item ends and why, as the admin API answers it.
type explanation struct {
	sample
	Now       instant  `json:"now"`
	Written   instant  `json:"written"`
	Ends      bool     `json:"ends"`
	Deadline  *instant `json:"deadline"`
	Remaining *int64   `json:"remainingSeconds"`
	Sentence  string   `json:"sentence"`
	Remedy    string   `json:"remedy"`
	Notes     []string `json:"notes"`
	Policy    string   `json:"policy"`
	Rules     []struct {
		Sentence string `json:"sentence"`
	} `json:"rules"`
}

func (c command) explainTTL() *cobra.Command {
	var key string
	cmd := c.onContainer(
		&cobra.Command{
			Use: "explain DB/CONTAINER ID", Short: "Say when an item ends and why, or why it does not",
			Example: "  mayfly ttl explain shop/carts 1\n" +
				"  mayfly ttl explain shop/carts 1 --partition-key ada",
			Args: cobra.ExactArgs(2),
		},
		func(ctx context.Context, s *session, p place) error {
			query, err := partitionKeyQuery(key)
			if err != nil {
				return err
			}
			if query == nil {
				query = url.Values{}
			}
			query.Set("id", s.args[1])
			return askFor(ctx, s, p.path("lifetime", "explain")+queryText(query), s.showExplanation)
		},
	)
	addPartitionKey(cmd, &key)
	return cmd
}

func (s *session) showExplanation(e explanation) error {
	if err := s.say("%s", e.Sentence); err != nil {
		return err
	}
	lines := [][2]string{{"Written", e.Written.time().Format(time.RFC3339)}}
	if e.Deadline != nil {
		lines = append(lines, [2]string{"Ends", e.Deadline.time().Format(time.RFC3339)})
	}
	if e.Remaining != nil {
		left := clock.FormatDuration(time.Duration(*e.Remaining) * time.Second)
		lines = append(lines, [2]string{"Left", left})
	}
	lines = append(lines, [2]string{"Policy", e.Policy})
	for _, r := range e.Rules {
		if r.Sentence != e.Sentence {
			lines = append(lines, [2]string{"Rule", r.Sentence})
		}
	}
	for _, note := range e.Notes {
		lines = append(lines, [2]string{"Note", note})
	}
	return s.facts(append(lines, [2]string{"Remedy", e.Remedy}))
}
