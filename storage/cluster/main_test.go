package cluster

import (
	"os"
	"testing"

	"github.com/webrace/webrace/internal/testutil/postgres"
)

func TestMain(m *testing.M) { os.Exit(postgres.Main(m)) }
