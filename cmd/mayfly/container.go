package main

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mayflydb/mayfly/internal/remote"
	"github.com/mayflydb/mayfly/internal/terminal"
)

// container is the command about containers, collections of MongoDB included.
func (c command) container() *cobra.Command {
	list := c.online(
		&cobra.Command{Use: "list [DB]", Short: "List the containers of a database, or all",
			Args:              cobra.MaximumNArgs(1),
			ValidArgsFunction: c.completeDatabases()},
		func(ctx context.Context, s *session) error { return s.listContainers(ctx, s.args...) },
	)
	show := c.online(
		&cobra.Command{Use: "show DB/CONTAINER", Short: "Show a container: its definition and its size",
			Args: cobra.ExactArgs(1), ValidArgsFunction: c.completeContainers()},
		showContainer,
	)
	return family(
		&cobra.Command{
			Use: "container", Short: "List, create and delete containers, collections of MongoDB included",
			Example: "  mayfly container create shop/carts --partition-key /customer --ttl 90d\n" +
				"  mayfly container list shop",
		},
		list, c.createContainer(), show, c.listRanges(), c.splitRange(), c.deleteContainer(),
	)
}

// A containerState is a container as the admin API shows it. --json prints the whole.
type containerState struct {
	ID           string          `json:"id"`
	Database     string          `json:"database"`
	Dialect      string          `json:"dialect"`
	View         bool            `json:"view"`
	Items        int64           `json:"items"`
	Bytes        int64           `json:"bytes"`
	DefaultTTL   *int64          `json:"defaultTtl"`
	Partitions   int             `json:"partitions"`
	TTLProperty  string          `json:"ttlPropertyPath"`
	PartitionKey json.RawMessage `json:"partitionKey"`
	UniqueKeys   json.RawMessage `json:"uniqueKeyPolicy"`
	Indexing     json.RawMessage `json:"indexingPolicy"`
	Options      json.RawMessage `json:"options"`
	Indexes      []struct {
		Name string `json:"name"`
	} `json:"indexes"`
}

// containerPage is one page of the containers of a database.
type containerPage struct {
	Containers   []containerState `json:"containers"`
	Continuation string           `json:"continuation"`
}

// paths are the paths of the partition key.
func (c containerState) paths() (list []string) {
	var key struct {
		Paths []string `json:"paths"`
	}
	if json.Unmarshal(c.PartitionKey, &key) != nil || c.Dialect != "nosql" {
		return nil
	}
	return key.Paths
}

// kind is what a container is to those who use it.
func (c containerState) kind() string {
	switch {
	case c.View:
		return "view"
	case c.Dialect == "mongodb":
		return "MongoDB"
	}
	return "NoSQL"
}

// listContainers prints the containers of the named databases, of all if none is named.
func (s *session) listContainers(ctx context.Context, databases ...string) error {
	if len(databases) == 0 {
		all, err := databaseNames(ctx, s.Client)
		if err != nil {
			return err
		}
		databases = all
	}
	list := []json.RawMessage{}
	for _, db := range databases {
		for page, err := range pagesOf(ctx, s, remote.Path("databases", db, "containers"), "containers") {
			if err != nil {
				return err
			}
			list = append(list, page...)
		}
	}
	if s.json {
		return printJSON(s.c.out, map[string]any{"containers": list})
	}
	var rows [][]string
	for _, text := range list {
		var c containerState
		if err := json.Unmarshal(text, &c); err != nil {
			return err
		}
		rows = append(rows, []string{c.Database + "/" + c.ID, c.kind(), strings.Join(c.paths(), " "),
			ttlText(c.DefaultTTL), terminal.Count(c.Items), terminal.Bytes(c.Bytes)})
	}
	columns := []string{"CONTAINER", "API", "PARTITION KEY", "TTL", ">ITEMS", ">SIZE"}
	return s.table("no containers", columns, rows)
}

func showContainer(ctx context.Context, s *session) error {
	p, err := s.container()
	if err != nil {
		return err
	}
	return askFor(ctx, s, p.path(), s.showContainer)
}

func (s *session) showContainer(c containerState) error {
	var indexes []string
	for _, index := range c.Indexes {
		indexes = append(indexes, index.Name)
	}
	return s.facts([][2]string{
		{"Container", c.Database + "/" + c.ID}, {"API", c.kind()},
		{"Items", terminal.Count(c.Items)}, {"Size", terminal.Bytes(c.Bytes)},
		{"Partition key", strings.Join(c.paths(), " ")}, {"Partitions", c.partitions()},
		{"TTL", ttlText(c.DefaultTTL)}, {"TTL property", c.TTLProperty},
		{"Unique keys", uniqueKeysText(c.UniqueKeys)}, {"Indexing", string(c.Indexing)},
		{"Options", string(c.Options)}, {"Indexes", strings.Join(indexes, ", ")},
	})
}

// partitions is how many ranges the container has, "" for one.
func (c containerState) partitions() string {
	if c.Partitions <= 1 {
		return ""
	}
	return strconv.Itoa(c.Partitions)
}

// uniqueKeysText shows each unique key as its paths.
func uniqueKeysText(policy json.RawMessage) string {
	var body struct {
		UniqueKeys []struct {
			Paths []string `json:"paths"`
		} `json:"uniqueKeys"`
	}
	if json.Unmarshal(policy, &body) != nil {
		return ""
	}
	var keys []string
	for _, key := range body.UniqueKeys {
		keys = append(keys, strings.Join(key.Paths, ","))
	}
	return strings.Join(keys, " ")
}

func (c command) deleteContainer() *cobra.Command {
	yes := false
	cmd := c.online(
		&cobra.Command{
			Use: "delete DB/CONTAINER", Short: "Delete a container with everything in it", Args: cobra.ExactArgs(1),
			ValidArgsFunction: c.completeContainers(),
		},
		func(ctx context.Context, s *session) error {
			p, err := s.container()
			if err != nil {
				return err
			}
			var state containerState
			if err := s.Get(ctx, p.path(), &state); err != nil {
				return err
			}
			name := terminal.Plain(p.String())
			err = s.confirm(yes, "Delete the container %s with its %s items?", name, terminal.Count(state.Items))
			if err != nil {
				return err
			}
			return ask(ctx, s, http.MethodDelete, p.path(), nil, func(any) error {
				return s.say("container %s deleted", name)
			})
		},
	)
	addYes(cmd, &yes)
	return cmd
}
