package main

import (
	"context"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/mayflydb/mayfly/internal/remote"
	"github.com/mayflydb/mayfly/internal/terminal"
)

// db is the command about databases.
func (c command) db() *cobra.Command {
	show := c.online(
		&cobra.Command{Use: "show DB", Short: "Show a database and its containers", Args: cobra.ExactArgs(1),
			ValidArgsFunction: c.completeDatabases()},
		showDatabase,
	)
	return family(
		&cobra.Command{
			Use: "db", Short: "List, create and delete databases",
			Example: "  mayfly db create shop\n" +
				"  mayfly db list",
		},
		c.online(&cobra.Command{Use: "list", Short: "List all databases", Args: cobra.NoArgs}, listDatabases),
		c.online(&cobra.Command{Use: "create DB", Short: "Create a database", Args: cobra.ExactArgs(1)},
			createDatabase),
		show,
		c.deleteDatabase(),
	)
}

// databaseList is the answer to a request for all databases.
type databaseList struct {
	Databases []databaseState `json:"databases"`
}

type databaseState struct {
	ID         string `json:"id"`
	Containers int64  `json:"containers"`
}

func listDatabases(ctx context.Context, s *session) error {
	return askFor(ctx, s, remote.Path("databases"), func(list databaseList) error {
		var rows [][]string
		for _, db := range list.Databases {
			rows = append(rows, []string{db.ID, terminal.Count(db.Containers)})
		}
		return s.table("no databases", []string{"DATABASE", ">CONTAINERS"}, rows)
	})
}

func createDatabase(ctx context.Context, s *session) error {
	body := map[string]string{"id": s.args[0]}
	return ask(ctx, s, http.MethodPost, remote.Path("databases"), body, func(db databaseState) error {
		return s.say("database %s created", terminal.Plain(db.ID))
	})
}

// showDatabase prints the containers of a database.
func showDatabase(ctx context.Context, s *session) error { return s.listContainers(ctx, s.args[0]) }

func (c command) deleteDatabase() *cobra.Command {
	yes := false
	cmd := c.online(
		&cobra.Command{
			Use: "delete DB", Short: "Delete a database with everything in it", Args: cobra.ExactArgs(1),
			ValidArgsFunction: c.completeDatabases(),
		},
		func(ctx context.Context, s *session) error {
			path := remote.Path("databases", s.args[0])
			var db databaseState
			if err := s.Get(ctx, path, &db); err != nil {
				return err
			}
			err := s.confirm(yes, "Delete the database %s with its %s containers and all items?",
				terminal.Plain(db.ID), terminal.Count(db.Containers))
			if err != nil {
				return err
			}
			return ask(ctx, s, http.MethodDelete, path, nil, func(any) error {
				return s.say("database %s deleted", terminal.Plain(db.ID))
			})
		},
	)
	addYes(cmd, &yes)
	return cmd
}
