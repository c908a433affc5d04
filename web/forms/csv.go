package forms

import (
	"time"
)

// DownloadStall is how long a download may stand still before it is given up: reading its rows
// holds a connection to the database.
const DownloadStall = 2 * time.Minute
