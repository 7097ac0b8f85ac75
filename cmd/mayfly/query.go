package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mayflydb/mayfly/internal/literal"
)

// A queryRequest is the body of a query, as the admin API takes it.
type queryRequest struct {
	SQL          string           `json:"sql,omitempty"`
	Parameters   []queryParameter `json:"parameters,omitempty"`
	Pipeline     json.RawMessage  `json:"pipeline,omitempty"`
	Find         map[string]any   `json:"find,omitempty"`
	Max          int              `json:"max,omitempty"`
	Continuation string           `json:"continuation,omitempty"`
	Explain      bool             `json:"explain,omitempty"`
}

type queryParameter struct {
	Name  string          `json:"name"`
	Value json.RawMessage `json:"value"`
}

func (c command) query() *cobra.Command {
	var (
		out            rowOutput
		mongo, explain bool
		parameters     []string
	)
	cmd := c.online(
		&cobra.Command{
			Use:   "query DB/CONTAINER QUERY",
			Short: "Run a query in SQL, or a filter or pipeline of MongoDB",
			Long: "Run a query in the language of Cosmos DB for NoSQL, or with --mongo a filter or an aggregation\n" +
				"pipeline of MongoDB, typed as in mongosh. Either language can ask every container. On a terminal\n" +
				"the rows go to a pager, and pages are requested as one scrolls.",
			Example: "  mayfly query shop/carts 'SELECT c.id, c.total FROM c WHERE c.total > 100'\n" +
				"  mayfly query shop/carts 'SELECT * FROM c WHERE c.customer = @who' --param 'who=\"ada\"'\n" +
				"  mayfly query --mongo shop/visits '[{$match: {at: {$gt: ISODate(\"2026-03-01\")}}}]'\n" +
				"  mayfly query --mongo shop/visits '{page: /^\\/cart/}' --explain",
			Args: cobra.ExactArgs(2), ValidArgsFunction: c.completeContainers(),
		},
		func(ctx context.Context, s *session) error {
			p, err := s.container()
			if err != nil {
				return err
			}
			request, err := queryOf(s.args[1], mongo, parameters)
			if err != nil {
				return usage{err}
			}
			request.Max = out.page()
			if explain {
				request.Explain = true
				return s.explainQuery(ctx, p.path("query"), request)
			}
			return out.print(s, queryPages(ctx, s, p.path("query"), request))
		},
	)
	out.add(cmd)
	f := cmd.Flags()
	f.BoolVar(&mongo, "mongo", false, "QUERY is a filter {…} or a pipeline […] of MongoDB")
	f.BoolVar(&explain, "explain", false, "print the plan and run nothing")
	f.StringArrayVar(&parameters, "param", nil, "a parameter of SQL as name=JSON; repeatable")
	return cmd
}

// queryOf is the request for a query as a person typed it.
func queryOf(text string, mongo bool, parameters []string) (q queryRequest, err error) {
	if !mongo {
		q.SQL = text
		for _, p := range parameters {
			name, value, ok := strings.Cut(p, "=")
			if !ok || !json.Valid([]byte(value)) {
				return q, fmt.Errorf("--param: %q is not name=JSON, such as 'who=\"ada\"' or n=5", p)
			}
			name = "@" + strings.TrimPrefix(name, "@")
			q.Parameters = append(q.Parameters, queryParameter{name, json.RawMessage(value)})
		}
		return q, nil
	}
	if len(parameters) > 0 {
		return q, errors.New("--param belongs to SQL: leave it out")
	}
	value, err := literal.ExtendedJSON(text)
	switch {
	case err != nil:
		return q, fmt.Errorf("QUERY: %w", err)
	case bytes.HasPrefix(value, []byte("[")):
		q.Pipeline = value
	case bytes.HasPrefix(value, []byte("{")):
		q.Find = map[string]any{"filter": value}
	default:
		return q, errors.New("QUERY: write a filter {…} or a pipeline […]")
	}
	return q, nil
}

// queryPages yields the rows of a query page by page.
func queryPages(
	ctx context.Context, s *session, path string, request queryRequest,
) iter.Seq2[[]json.RawMessage, error] {
	return func(yield func([]json.RawMessage, error) bool) {
		for {
			var body map[string]json.RawMessage
			err := s.Call(ctx, http.MethodPost, path, request, &body)
			page, continuation, err := pageIn(body, "items", err)
			if !yield(page, err) || err != nil || continuation == "" {
				return
			}
			request.Continuation = continuation
		}
	}
}

// explainQuery prints the plan of a query: a text, or JSON.
func (s *session) explainQuery(ctx context.Context, path string, request queryRequest) error {
	var answer struct {
		Plan json.RawMessage `json:"plan"`
	}
	if err := s.Call(ctx, http.MethodPost, path, request, &answer); err != nil {
		return err
	}
	var text string
	if !s.json && json.Unmarshal(answer.Plan, &text) == nil {
		return s.say("%s", strings.TrimRight(text, "\n"))
	}
	return printRaw(s.c.out, answer.Plan)
}
