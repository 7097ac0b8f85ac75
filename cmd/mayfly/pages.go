package main

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strings"
)

// pagesOf yields the pages of a list that the admin API answers with GET: the values of a member.
func pagesOf(ctx context.Context, s *session, path, member string) iter.Seq2[[]json.RawMessage, error] {
	return func(yield func([]json.RawMessage, error) bool) {
		for next := ""; ; {
			at := path
			if next != "" {
				separator := "?"
				if strings.Contains(path, "?") {
					separator = "&"
				}
				at += separator + url.Values{"continuation": {next}}.Encode()
			}
			var body map[string]json.RawMessage
			err := s.Call(ctx, http.MethodGet, at, nil, &body)
			page, continuation, err := pageIn(body, member, err)
			if !yield(page, err) || err != nil || continuation == "" {
				return
			}
			next = continuation
		}
	}
}

// pageIn takes a page out of an answer.
func pageIn(
	body map[string]json.RawMessage, member string, failed error,
) (page []json.RawMessage, continuation string, err error) {
	if failed != nil {
		return nil, "", failed
	}
	if err := json.Unmarshal(body[member], &page); err != nil {
		return nil, "", fmt.Errorf("the answer of the server has no %s", member)
	}
	if text := body["continuation"]; text != nil {
		if err := json.Unmarshal(text, &continuation); err != nil {
			return nil, "", fmt.Errorf("the answer of the server has a continuation that is no text")
		}
	}
	return page, continuation, nil
}
