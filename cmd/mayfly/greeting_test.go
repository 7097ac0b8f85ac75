package main

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/mayflydb/mayfly/internal/node"
)

// TestGreetingConnects pastes the connection string of the start into a driver.
func TestGreetingConnects(t *testing.T) {
	for _, c := range []struct {
		name  string
		flags []string
		hint  string // "" when nobody is asked
	}{
		{"nobody is asked", nil, ""},
		{"a stand-alone server", []string{"--mongo-replset="}, ""},
		{"the key that everybody knows", []string{"--mongo-auth=on"}, "any user name works"},
		{"other machines reach it", []string{"--mongo=0.0.0.0:0"}, "KEY is the account key"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			s := serve(t, append([]string{"--data", dir, "--nosql=", "--admin="}, c.flags...)...)
			defer s.stop(t, os.Interrupt)
			uri := regexp.MustCompile(`mongodb://\S+`).FindString(s.block)
			if strings.Contains(uri, url.QueryEscape(node.WellKnownKey)) != (c.hint == "any user name works") ||
				!strings.Contains(s.block, c.hint) || (c.hint == "") == strings.Contains(uri, "@") {
				t.Errorf("the start says\n%s", s.block)
			}
			if strings.Contains(uri, "KEY") {
				key, err := os.ReadFile(filepath.Join(dir, "account.key"))
				if err != nil {
					t.Fatal(err)
				}
				uri = strings.Replace(uri, "KEY", url.QueryEscape(strings.TrimSpace(string(key))), 1)
			}
			client, err := mongo.Connect(options.Client().ApplyURI(uri))
			if err != nil {
				t.Fatal(err)
			}
			defer client.Disconnect(context.Background())
			if _, err := client.Database("shop").Collection("carts").InsertOne(t.Context(), bson.D{}); err != nil {
				t.Error(err)
			}
		})
	}
}
