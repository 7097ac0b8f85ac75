package main

import (
	"context"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/mayflydb/mayfly/internal/node"
	"github.com/mayflydb/mayfly/internal/remote"
	"github.com/mayflydb/mayfly/internal/terminal"
)

// snapshot is the command that saves states of a running mayfly and goes back to them, through its admin API.
func (c command) snapshot() *cobra.Command {
	return family(
		&cobra.Command{
			Use:   "snapshot",
			Short: "Save the state of a running mayfly, and go back to it",
			Long: "Save the state of all data of a running mayfly under a name, and go back to it in milliseconds:\n" +
				"for test suites. A virtual clock goes back too; a real clock does not.",
			Example: "  mayfly snapshot save start\n" +
				"  mayfly snapshot load start --yes",
		},
		c.saveSnapshot(), c.loadSnapshot(), c.listSnapshots(), c.deleteSnapshot(),
	)
}

func (c command) saveSnapshot() *cobra.Command {
	return c.online(
		&cobra.Command{Use: "save NAME", Short: "Save the present state", Args: cobra.ExactArgs(1)},
		func(ctx context.Context, s *session) error {
			body := map[string]string{"name": s.args[0]}
			return ask(ctx, s, http.MethodPost, remote.Path("snapshots"), body, s.showSnapshot)
		},
	)
}

func (c command) loadSnapshot() *cobra.Command {
	yes := false
	cmd := c.online(
		&cobra.Command{
			Use: "load NAME", Short: "Go back to a state: all later changes are lost", Args: cobra.ExactArgs(1),
			ValidArgsFunction: c.completeSnapshots(),
		},
		func(ctx context.Context, s *session) error {
			name := terminal.Plain(s.args[0])
			if err := s.confirm(yes, "Go back to %s and lose all later changes?", name); err != nil {
				return err
			}
			return ask(ctx, s, http.MethodPost, remote.Path("snapshots", s.args[0], "load"), nil, s.showSnapshot)
		},
	)
	addYes(cmd, &yes)
	return cmd
}

func (s *session) showSnapshot(one node.Snapshot) error {
	return s.say("%s  clock %s", terminal.Plain(one.Name), one.Clock.Format(time.RFC3339))
}

// A snapshotList is the answer of the admin API.
type snapshotList struct {
	Snapshots []node.Snapshot `json:"snapshots"`
}

func (c command) listSnapshots() *cobra.Command {
	return c.online(
		&cobra.Command{Use: "list", Short: "List the snapshots", Args: cobra.NoArgs},
		func(ctx context.Context, s *session) error {
			return askFor(ctx, s, remote.Path("snapshots"), func(list snapshotList) error {
				var rows [][]string
				for _, one := range list.Snapshots {
					rows = append(rows, []string{
						one.Name, one.Saved.Format(time.RFC3339), one.Clock.Format(time.RFC3339),
						terminal.Bytes(int64(one.Bytes)),
					})
				}
				return s.table("no snapshots", []string{"NAME", "SAVED", "CLOCK", ">SIZE"}, rows)
			})
		},
	)
}

func (c command) deleteSnapshot() *cobra.Command {
	yes := false
	cmd := c.online(
		&cobra.Command{
			Use: "delete NAME", Short: "Delete a snapshot", Args: cobra.ExactArgs(1),
			ValidArgsFunction: c.completeSnapshots(),
		},
		func(ctx context.Context, s *session) error {
			name := terminal.Plain(s.args[0])
			if err := s.confirm(yes, "Delete the snapshot %s?", name); err != nil {
				return err
			}
			return ask(ctx, s, http.MethodDelete, remote.Path("snapshots", s.args[0]), nil, func(any) error {
				return s.say("snapshot %s deleted", name)
			})
		},
	)
	addYes(cmd, &yes)
	return cmd
}

// completeSnapshots completes the name of a snapshot.
func (c command) completeSnapshots() completion {
	return c.completing(func(ctx context.Context, client *remote.Client, _ string) ([]string,
		cobra.ShellCompDirective) {
		var list snapshotList
		if client.Get(ctx, remote.Path("snapshots"), &list) != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		var names []string
		for _, one := range list.Snapshots {
			names = append(names, one.Name)
		}
		return names, cobra.ShellCompDirectiveDefault
	})
}
