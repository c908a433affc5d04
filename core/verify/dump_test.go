package verify
import ("testing";"os")
func TestDump(t *testing.T) { if os.Getenv("DUMP")=="" {t.Skip()}
 f,_ := os.Create("/tmp/v.sql"); defer f.Close()
 f.WriteString("\\timing off\nset max_parallel_workers_per_gather=2;\nbegin isolation level repeatable read read only;\n"+readEverythingSQL+";\n\\timing on\n")
 for _, c := range checks { f.WriteString("\\echo '"+ "X" + "'\n"+"explain (analyze, costs off) "+c.sql+";\n") }
 f.WriteString("commit;") }
