package purchase

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"testing"
)

type object = map[string]any

// ask sends a request, and returns the JSON of its answer. A refusal fails the test with its detail.
func ask(t *testing.T, method, url string, body any, headers object) (answer object) {
	t.Helper()
	text, _ := json.Marshal(body)
	request, _ := http.NewRequest(method, url, bytes.NewReader(text))
	request.Header.Set("Content-Type", "application/json")
	for name, value := range headers {
		request.Header.Set(name, value.(string))
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if err := json.NewDecoder(response.Body).Decode(&answer); response.StatusCode >= 300 || err != nil && err != io.EOF {
		t.Fatal(method, url, response.Status, answer["detail"], err)
	}
	return answer
}

// lease returns the content of sandbox.json of a reset sandbox, which the test has for itself until it ends.
func lease(t *testing.T) object {
	pool := os.Getenv("ROUTING_POOL_URL") // of `routing-sandbox pool`, such as http://127.0.0.1:4030
	leased := ask(t, "POST", pool+"/leases", object{"seconds": 300}, nil)
	t.Cleanup(func() { ask(t, "DELETE", pool+"/leases/"+leased["id"].(string), nil, nil) })
	return leased["sandbox"].(object)
}
