package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mayflydb/mayfly/internal/terminal"
)

// item is the command about single items, documents of MongoDB included.
func (c command) item() *cobra.Command {
	return family(
		&cobra.Command{
			Use: "item", Short: "Read, write and delete single items",
			Long: "Read, write and delete single items, documents of MongoDB included. Those are in extended JSON;\n" +
				"an _id that is no text is written as ObjectId's digits, as a number or as extended JSON.",
			Example: "  mayfly item put shop/carts cart.json\n" +
				"  echo '{\"id\": \"1\", \"ttl\": 60}' | mayfly item put shop/carts\n" +
				"  mayfly item get shop/carts 1",
		},
		c.getItem(), c.putItem(), c.deleteItem(), c.listItems(),
	)
}

// onItem makes a command about the item of its arguments DB/CONTAINER and ID.
func (c command) onItem(
	cmd *cobra.Command, run func(ctx context.Context, s *session, path string) error,
) *cobra.Command {
	cmd.Args = cobra.ExactArgs(2)
	cmd.ValidArgsFunction = c.completeContainers()
	var key string
	cmd = c.online(cmd, func(ctx context.Context, s *session) error {
		p, err := s.container()
		if err != nil {
			return err
		}
		query, err := partitionKeyQuery(key)
		if err != nil {
			return err
		}
		return run(ctx, s, p.path("items", s.args[1])+queryText(query))
	})
	addPartitionKey(cmd, &key)
	return cmd
}

func addPartitionKey(cmd *cobra.Command, key *string) {
	cmd.Flags().StringVarP(key, "partition-key", "p", "",
		"partition key: a text, or a JSON array such as '[5]' or '[\"a\",\"b\"]' (default: the only item with this ID)")
}

// partitionKeyQuery is the query of a request about a partition key: a JSON array as it is, or one text.
func partitionKeyQuery(key string) (url.Values, error) {
	switch {
	case key == "":
		return nil, nil
	case !strings.HasPrefix(key, "["):
		text, err := json.Marshal([]string{key})
		return url.Values{"partitionKey": {string(text)}}, err
	}
	var values []any
	if err := json.Unmarshal([]byte(key), &values); err != nil {
		return nil, usage{fmt.Errorf("--partition-key: %q is neither a text nor a JSON array: %w", key, err)}
	}
	return url.Values{"partitionKey": {key}}, nil
}

// queryText is the query of a path, with its question mark.
func queryText(query url.Values) string {
	if len(query) == 0 {
		return ""
	}
	return "?" + query.Encode()
}

func (c command) getItem() *cobra.Command {
	return c.onItem(
		&cobra.Command{Use: "get DB/CONTAINER ID", Short: "Print an item as JSON"},
		func(ctx context.Context, s *session, path string) error {
			var raw json.RawMessage
			if err := s.Get(ctx, path, &raw); err != nil {
				return err
			}
			return printRaw(s.c.out, raw)
		},
	)
}

func (c command) deleteItem() *cobra.Command {
	return c.onItem(
		&cobra.Command{Use: "delete DB/CONTAINER ID", Short: "Delete an item"},
		func(ctx context.Context, s *session, path string) error {
			return ask(ctx, s, http.MethodDelete, path, nil, func(any) error {
				return s.say("item %s deleted", terminal.Plain(s.args[1]))
			})
		},
	)
}

func (c command) putItem() *cobra.Command {
	create := false
	cmd := c.online(
		&cobra.Command{
			Use: "put DB/CONTAINER [FILE]", Short: "Create or replace an item from a file or from stdin",
			Args:              cobra.RangeArgs(1, 2),
			ValidArgsFunction: c.completeContainersOrFile(),
		},
		func(ctx context.Context, s *session) error {
			p, err := s.container()
			if err != nil {
				return err
			}
			file := "-"
			if len(s.args) == 2 {
				file = s.args[1]
			}
			var body json.RawMessage
			if err := readJSON(s.c.in, file, &body); err != nil {
				return err
			}
			query := url.Values{"upsert": {"true"}}
			if create {
				query = nil
			}
			return ask(ctx, s, http.MethodPost, p.path("items")+queryText(query), body, s.itemWritten)
		},
	)
	cmd.Flags().BoolVar(&create, "create", false, "fail if there is such an item")
	return cmd
}

func (s *session) itemWritten(item struct {
	ID      string          `json:"id"`
	MongoID json.RawMessage `json:"_id"`
}) error {
	id := item.ID
	if item.MongoID != nil {
		id = cell(item.MongoID)
	}
	return s.say("item %s written", terminal.Plain(id))
}

func (c command) listItems() *cobra.Command {
	var (
		out rowOutput
		key string
	)
	cmd := c.online(
		&cobra.Command{Use: "list DB/CONTAINER", Short: "Print the items of a container", Args: cobra.ExactArgs(1),
			ValidArgsFunction: c.completeContainers()},
		func(ctx context.Context, s *session) error {
			p, err := s.container()
			if err != nil {
				return err
			}
			query, err := partitionKeyQuery(key)
			if err != nil {
				return err
			}
			return out.print(s, pagesOf(ctx, s, p.path("items")+queryText(query), "items"))
		},
	)
	out.add(cmd)
	cmd.Flags().StringVarP(&key, "partition-key", "p", "", "print one partition: a text, or a JSON array such as '[5]'")
	return cmd
}
