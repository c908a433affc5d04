package daily_test

import (
	"testing"

	"example.com/loyalty/core/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }
