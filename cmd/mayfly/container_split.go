package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mayflydb/mayfly/internal/terminal"
)

// rangeList is the ranges of a container as the admin API shows them.
type rangeList struct {
	Ranges []struct {
		ID      string   `json:"id"`
		Min     string   `json:"minInclusive"`
		Max     string   `json:"maxExclusive"`
		Parents []string `json:"parents"`
		Items   int64    `json:"items"`
		Bytes   int64    `json:"bytes"`
	} `json:"ranges"`
}

func (c command) listRanges() *cobra.Command {
	return c.online(
		&cobra.Command{
			Use: "ranges DB/CONTAINER", Short: "List the ranges of a container", Args: cobra.ExactArgs(1),
			ValidArgsFunction: c.completeContainers(),
		},
		func(ctx context.Context, s *session) error {
			p, err := s.container()
			if err != nil {
				return err
			}
			return askFor(ctx, s, p.path("ranges"), s.showRanges)
		},
	)
}

func (s *session) showRanges(list rangeList) error {
	var rows [][]string
	for _, r := range list.Ranges {
		rows = append(rows, []string{r.ID, r.Min, r.Max, strings.Join(r.Parents, " "), terminal.Count(r.Items),
			terminal.Bytes(r.Bytes)})
	}
	return s.table("no ranges", []string{"RANGE", "FROM", "TO", "PARENTS", ">ITEMS", ">SIZE"}, rows)
}

func (c command) splitRange() *cobra.Command {
	at := "middle"
	cmd := c.online(
		&cobra.Command{
			Use: "split DB/CONTAINER RANGE", Short: "Split a range of a container in two",
			Long: "Split copies the items of a range to two new ones, while clients read and write them, and waits\n" +
				"for the end. Ctrl-C cancels it. Afterwards the range is gone: clients go on in the new ones.",
			Example: "  mayfly container ranges shop/carts\n" +
				"  mayfly container split shop/carts 0 --at median",
			Args: cobra.ExactArgs(2), ValidArgsFunction: c.completeContainers(),
		},
		func(ctx context.Context, s *session) error { return s.splitRange(ctx, at) },
	)
	cmd.Flags().StringVar(&at, "at", "middle",
		"where: middle of the keys, median of the items, or an effective partition key in hexadecimal digits")
	return cmd
}

func (s *session) splitRange(ctx context.Context, at string) error {
	p, err := s.container()
	if err != nil {
		return err
	}
	id := s.args[1]
	o, err := s.run(ctx, p.path("ranges", id, "split"), map[string]string{"at": at})
	if err != nil {
		return err
	}
	if s.json {
		return printJSON(s.c.out, o.Result)
	}
	var done struct {
		Ranges []string `json:"ranges"`
	}
	if err := json.Unmarshal(o.Result, &done); err != nil {
		return fmt.Errorf("the result of the split cannot be read: %w", err)
	}
	return s.say("range %s of %s is split into %s", terminal.Plain(id), terminal.Plain(p.String()),
		terminal.Plain(strings.Join(done.Ranges, " and ")))
}
