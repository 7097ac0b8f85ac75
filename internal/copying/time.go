package copying

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

// clockOf is the clock of an endpoint in seconds, as a query sees it. Emulators that do not know the function answer
// with an error, or with nothing; they have the time of their machine, which is in the headers of every answer.
func clockOf(ctx context.Context, c *azcosmos.ContainerClient, server *instance) (int64, error) {
	pages := c.NewQueryItemsPager("SELECT VALUE GetCurrentTimestamp()", azcosmos.NewPartitionKey(), nil)
	for pages.More() {
		page, err := pages.NextPage(ctx)
		if status(err) == http.StatusBadRequest {
			break
		}
		if err != nil {
			return 0, err
		}
		for _, row := range page.Items {
			var millis float64
			if json.Unmarshal(row, &millis) == nil && millis > 0 {
				return int64(millis) / 1000, nil
			}
		}
	}
	if date := server.date.Load(); date != 0 {
		return date, nil
	}
	return 0, errors.New("the endpoint does not say what time it has: copy with --lives restart")
}
