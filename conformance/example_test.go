package conformance

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

// A first session with the Go SDK, against
//
//	go run ./cmd/mayfly --memory --clock=virtual
//
// An item is written that lives for a day, the clock is moved by a day, and the
// item is gone. On the real clock it would take the day.
func Example() {
	mayfly, err := launch("--memory", "--clock=virtual")
	if err != nil {
		log.Fatal(err)
	}
	defer mayfly.stop()
	endpoint, admin := "http://"+mayfly.nosql, "http://"+mayfly.admin // http://localhost:8081 and :8080

	ctx := context.Background()
	key, err := azcosmos.NewKeyCredential(emulatorKey)
	if err != nil {
		log.Fatal(err)
	}
	client, err := azcosmos.NewClientWithKey(endpoint, key, nil)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := client.CreateDatabase(ctx, azcosmos.DatabaseProperties{ID: "shop"}, nil); err != nil {
		log.Fatal(err)
	}
	shop, err := client.NewDatabase("shop")
	if err != nil {
		log.Fatal(err)
	}
	aDay := int32(24 * 60 * 60)
	if _, err := shop.CreateContainer(ctx, azcosmos.ContainerProperties{
		ID:                     "carts",
		PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{Paths: []string{"/user"}},
		DefaultTimeToLive:      &aDay,
	}, nil); err != nil {
		log.Fatal(err)
	}
	carts, err := shop.NewContainer("carts")
	if err != nil {
		log.Fatal(err)
	}

	ada := azcosmos.NewPartitionKeyString("ada")
	const item = `{"id": "1", "user": "ada", "book": "Sketch of the Analytical Engine"}`
	if _, err := carts.CreateItem(ctx, ada, []byte(item), nil); err != nil {
		log.Fatal(err)
	}
	cart, err := carts.ReadItem(ctx, ada, "1", nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("now:", cart.RawResponse.Status)

	moved, err := http.Post(admin+"/clock/advance", "application/json", strings.NewReader(`{"duration": "24h"}`))
	if err != nil {
		log.Fatal(err)
	}
	moved.Body.Close()

	_, err = carts.ReadItem(ctx, ada, "1", nil)
	var gone *azcore.ResponseError
	if errors.As(err, &gone) {
		fmt.Println("a day later:", gone.StatusCode, http.StatusText(gone.StatusCode))
	}
	// Output:
	// now: 200 OK
	// a day later: 404 Not Found
}
