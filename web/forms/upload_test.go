package forms_test

import (
	"bytes"
	"errors"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/web/forms"
)

// formOf is a request with a form that holds a text and a file.
func formOf(t *testing.T, text, file string) echo.Context {
	t.Helper()
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	part, err := w.CreateFormFile("logo", "logo.png")
	if err == nil {
		_, err = part.Write([]byte(file))
	}
	if err := errors.Join(err, w.WriteField("colour", text), w.Close()); err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", &body)
	r.Header.Set(echo.HeaderContentType, w.FormDataContentType())
	return echo.New().NewContext(r, httptest.NewRecorder())
}

// Of a file no more is kept than is asked for, and what comes after it is read all the same.
func TestReadingAFormWithAFile(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ file, want string }{{"", ""}, {"abc", "abc"}, {"abcde", "abcde"}, {strings.Repeat("abcde", 1000), "abcde"}} {
		form, file, err := forms.ReadWithFile(formOf(t, "#112233", c.file), "logo", 5)
		if err != nil || string(file) != c.want || form.Value("colour") != "#112233" || form.Values.Has("logo") || (file == nil) != (c.want == "") {
			t.Errorf("of %d bytes: %q, %v, %v", len(c.file), file, form, err)
		}
	}
	for status, c := range map[int]echo.Context{
		http.StatusRequestEntityTooLarge: formOf(t, strings.Repeat("f", 2<<20), "abc"),
		http.StatusBadRequest:            echo.New().NewContext(httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", nil), httptest.NewRecorder()),
	} {
		var refused *echo.HTTPError
		if _, _, err := forms.ReadWithFile(c, "logo", 5); !errors.As(err, &refused) || refused.Code != status {
			t.Errorf("%v, want %d", err, status)
		}
	}
}
