import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { Gallery } from "./gallery";
import { Notices } from "./notices";
import { store, useStudio } from "./store";
import "uplot/dist/uPlot.min.css";
import "./style.css";
import { Workbench } from "./workbench";

function Studio() {
  const { file, link } = useStudio();
  return (
    <>
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
