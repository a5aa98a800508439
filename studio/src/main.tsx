import { StrictMode, useEffect, useState } from "react";
import { createRoot } from "react-dom/client";
import { Gallery } from "./gallery";
import { Notices } from "./notices";
import { store, useStudio } from "./store";
import "uplot/dist/uPlot.min.css";
import "./style.css";
import { Workbench } from "./workbench";

/** Whether something from outside is held over the page. */
const holdsFiles = (event: DragEvent) => event.dataTransfer?.types.includes("Files") ?? false;

function useDrop(): boolean {
  const [over, setOver] = useState(false);
  useEffect(() => {
    const held = (event: DragEvent) => {
      if (!holdsFiles(event)) return;
      // Without this the browser leaves the page for the file.
      event.preventDefault();
      setOver(true);
    };
    const left = (event: DragEvent) => event.relatedTarget === null && setOver(false);
    const dropped = (event: DragEvent) => {
      setOver(false);
      if (!holdsFiles(event)) return;
      event.preventDefault();
      void store.take(event.dataTransfer?.files ?? []);
    };
    addEventListener("dragover", held);
    addEventListener("dragleave", left);
    addEventListener("drop", dropped);
    return () => {
      removeEventListener("dragover", held);
      removeEventListener("dragleave", left);
      removeEventListener("drop", dropped);
    };
  }, []);
  return over;
}

function Studio() {
  const { file, link } = useStudio();
  const over = useDrop();
  return (
    <>
      {over && <div className="veil drop"><p>Let it go: it becomes a file of this folder, and is opened.</p></div>}
      {file ? <Workbench /> : <Gallery />}
      {link === "refused" && (
        <div className="veil" role="alert">
          <div>
            <h2>This page has no key to the studio</h2>
            <p>Start it again with <code>tellegen studio</code>, and use the address that it prints.</p>
          </div>
        </div>
      )}
      <Notices />
    </>
  );
}

createRoot(document.getElementById("root")!).render(<StrictMode><Studio /></StrictMode>);
store.begin();
